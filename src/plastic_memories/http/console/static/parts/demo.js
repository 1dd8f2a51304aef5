// Load the demo persona, and take it away again.

import { choosePersona, post, state } from "../api.js";
import { h } from "../dom.js";
import { currentLanguage, t } from "../i18n.js";
import { guarded, toast } from "./feedback.js";
import { showReceipt } from "./memory.js";

const DEMO = "demo";

/**
 * @param {import("../app.js").View} view
 * @param {{onlyLoad?: boolean}} [options]
 */
export function demoButton(view, options = {}) {
  if (state.me?.read_only || (state.me?.persona_id && state.me.persona_id !== DEMO)) return null;
  const isLoaded = state.personas.some((one) => one.persona_id === DEMO);
  if (isLoaded && options.onlyLoad) return null;
  const act = isLoaded ? removeDemo : loadDemo;
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: "button", onclick: () => { button.disabled = true; act(view).finally(() => { button.disabled = false; }); } }, isLoaded ? t("demo.remove") : t("demo.load")));
  return button;
}

/** @param {import("../app.js").View} view */
async function loadDemo(view) {
  await guarded(async () => {
    const done = await post("/console/demo/load", { language: currentLanguage() });
    choosePersona(done.persona_id);
    await view.shell.refreshPersonas();
    await view.shell.refreshInbox();
    toast(t("demo.loaded", { n: done.counts.memories ?? 0 }));
    location.hash = "#/memories";
    view.reload();
  });
}

/** @param {import("../app.js").View} view */
async function removeDemo(view) {
  await guarded(async () => {
    const done = await post("/console/demo/remove");
    if (state.persona === DEMO) choosePersona("default");
    await view.shell.refreshPersonas();
    await view.shell.refreshInbox();
    view.reload();
    await showReceipt(done.receipt, t("demo.removed"));
  });
}
