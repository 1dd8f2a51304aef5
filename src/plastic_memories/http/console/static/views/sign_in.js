// The first page of somebody who is not signed in.

import { post } from "../api.js";
import { fill, h } from "../dom.js";
import { currentLanguage, setLanguage, t } from "../i18n.js";
import { showError } from "../parts/feedback.js";

/**
 * @param {HTMLElement} place
 * @param {(me: any) => Promise<void>} done
 */
export function renderSignIn(place, done) {
  const key = /** @type {HTMLInputElement} */ (h("input", { type: "password", id: "key", autocomplete: "current-password", spellcheck: "false", required: true }));
  const button = /** @type {HTMLButtonElement} */ (h("button", { class: "button primary", type: "submit" }, t("sign_in.enter")));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await done(await post("/console/session", { api_key: key.value.trim() }));
    } catch (error) {
      showError(error);
    } finally {
      button.disabled = false;
    }
  };
  document.title = `${t("sign_in.title")} · Plastic Memories`;
  fill(place, h("main", { class: "gate" },
    h("p", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("h1", null, "Plastic Memories"),
    h("p", { class: "lead" }, t("sign_in.lead")),
    h("section", { class: "card" },
      h("h2", null, t("sign_in.with_link")),
      h("p", null, t("sign_in.link_hint")),
      h("pre", null, h("code", null, "plastic-memories console"))),
    h("form", { class: "card", onsubmit: submit },
      h("h2", null, t("sign_in.with_key")),
      h("label", { for: "key" }, t("sign_in.key")), key,
      h("p", { class: "hint" }, t("sign_in.key_hint")), button),
    h("button", { type: "button", class: "text-button", onclick: () => { setLanguage(currentLanguage() === "zh" ? "en" : "zh"); renderSignIn(place, done); } }, currentLanguage() === "zh" ? "English" : "中文")));
}
