// Whom to look at, for a key that may act for several people.

import { get } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { ago, number, t } from "../i18n.js";
import { guarded, skeleton } from "../parts/feedback.js";
import { searchField } from "../parts/search.js";

/**
 * Show the people of this key; resolve to the chosen user id.
 * @param {HTMLElement} place
 * @returns {Promise<string>}
 */
export function choosePerson(place) {
  return new Promise((resolve) => {
    const list = h("ul", { class: "people" });
    let asked = 0;
    const search = async (/** @type {string} */ text) => {
      const turn = (asked += 1);
      const found = await guarded(() => get("/console/people", { q: text }));
      if (!found || turn !== asked) return;
      const rows = found.items.map((/** @type {any} */ one) => h("li", null, h("button", { type: "button", onclick: () => resolve(one.user_id) },
        h("span", { class: "avatar", "aria-hidden": "true" }, [...(one.name || one.user_id)][0] ?? "·"),
        h("span", { class: "person" }, h("b", { dir: "auto" }, one.name || one.user_id), h("small", { dir: "auto" }, [one.name ? one.user_id : "", ...one.apps].filter(Boolean).join(" · "))),
        h("span", { class: "seen" }, t("people.memories", { n: number(one.memories) }), h("small", null, one.last_seen_at ? ago(one.last_seen_at) : "")))));
      const own = text.trim() && !found.items.some((/** @type {any} */ one) => one.user_id === text.trim())
        ? h("li", null, h("button", { type: "button", onclick: () => resolve(text.trim()) }, icon("about"), t("people.use", { id: text.trim() }))) : null;
      fill(list, rows.length || own ? [rows, own] : h("li", { class: "hint" }, t("people.none")));
    };
    const field = searchField(t("people.search"), search);
    fill(list, skeleton(3));
    place.className = "signed-out";
    place.removeAttribute("aria-busy");
    fill(place, h("main", { class: "gate" }, h("h1", null, t("people.title")), h("p", { class: "lead" }, t("people.lead")), field, list));
    search("");
  });
}
