// About me: what is known of the user across personas, conflicts, and what is always told.

import { get, personaName, post, state } from "../api.js";
import { fill, h } from "../dom.js";
import { number, t, tOr } from "../i18n.js";
import { listenCalmly } from "../live.js";
import { emptyState, guarded, showSkeleton, toast } from "../parts/feedback.js";
import { openMemory, revokeMemory, typeChip, updateMemory } from "../parts/memory.js";

/** @typedef {import("../parts/memory.js").Memory} Memory */

const MOST_PERSONAS = 20;
const SELF_TYPES = ["profile", "stable_fact", "constraints", "preferences"];

/** @param {import("../app.js").View} view */
export function render(view) {
  const load = () => guarded(() => show(view));
  view.onLeave(listenCalmly((event) => event.event.startsWith("memory."), load));
  showSkeleton(view.element, 4);
  return load();
}

/** @param {import("../app.js").View} view */
async function show(view) {
  const personas = [...new Set([...state.personas.map((one) => one.persona_id), state.persona])].slice(0, MOST_PERSONAS);
  const lists = await Promise.all(personas.flatMap((persona) => SELF_TYPES.map((type) => get("/memory/list", { persona_id: persona, bots: "all", type, limit: 200 }).then((page) => page.items))));
  /** @type {Map<number, Memory>} */
  const known = new Map(lists.flat().map((one) => [one.id, one]));
  const rows = [...known.values()];
  const told = await post("/memory/recall", { persona_id: state.persona, bots: "all", query: "…", limit: 1, explain: true });
  if (!rows.length) {
    fill(view.element, emptyState(t("about.empty"), t("about.empty_hint"), h("a", { class: "button primary", href: "#/say" }, t("nav.say"))));
    return;
  }
  const reload = () => guarded(() => show(view));
  const conflicts = findConflicts(rows);
  fill(view.element,
    conflicts.length ? h("section", null, h("h2", null, t("about.conflicts", { n: conflicts.length })), h("p", { class: "hint" }, t("about.conflicts_hint")), conflicts.map((group) => conflictCard(group, reload))) : null,
    h("section", null, h("h2", null, t("about.known", { n: number(rows.length) })), h("div", { class: "groups" }, groups(rows).map(([name, items]) => groupCard(name, items, reload)))),
    h("section", null, h("h2", null, t("about.told", { persona: personaName(state.persona) })), h("p", { class: "hint" }, t("about.told_hint", { n: number(told.stable_block.tokens) })), told.stable_block.text ? h("pre", { class: "block", dir: "auto", tabindex: "0" }, told.stable_block.text) : h("p", { class: "hint" }, t("say.prompt_empty"))));
}

/** @param {Memory[]} rows */
function findConflicts(rows) {
  /** @type {Map<string, Memory[]>} */
  const byKey = new Map();
  rows.filter((one) => one.type === "profile").forEach((one) => byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]));
  return [...byKey.values()].filter((group) => new Set(group.map((one) => one.content)).size > 1);
}

/** @param {Memory[]} rows */
function groups(rows) {
  /** @type {Map<string, Memory[]>} */
  const found = new Map();
  for (const one of rows) {
    const name = one.type === "profile" ? one.key.split(/[._]/)[0] : one.type;
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return [...found.entries()].sort((a, b) => b[1].length - a[1].length);
}

/**
 * @param {string} name
 * @param {Memory[]} items
 * @param {() => void} reload
 */
function groupCard(name, items, reload) {
  const title = tOr(`group.${name}`, tOr(`type.${name}`, name));
  return h("article", { class: "card" }, h("h3", null, title), h("ul", { class: "plain-list" }, items.slice(0, 50).map((one) => h("li", null, h("button", { type: "button", class: "link", dir: "auto", onclick: () => openMemory(one.id, one.persona_id, reload) }, one.content), h("small", null, one.scope === "global" ? t("scope.global") : personaName(one.persona_id))))));
}

/**
 * @param {Memory[]} group
 * @param {() => void} reload
 */
function conflictCard(group, reload) {
  const keep = (/** @type {Memory} */ chosen) => guarded(async () => {
    for (const other of group) if (other.id !== chosen.id) await revokeMemory(other);
    if (chosen.scope !== "global") await updateMemory(chosen, { scope: "global" });
    toast(t("about.merged"));
    reload();
  });
  return h("article", { class: "card conflict" }, h("p", { class: "meta" }, typeChip(group[0].type), h("code", null, group[0].key)),
    h("div", { class: "beside" }, group.map((one) => h("div", { class: "side" }, h("h3", null, personaName(one.persona_id)), h("p", { class: "content", dir: "auto" }, one.content), state.me?.read_only ? null : h("button", { type: "button", class: "button", onclick: () => keep(one) }, t("about.keep"))))));
}
