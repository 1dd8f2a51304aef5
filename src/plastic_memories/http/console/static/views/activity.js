// Activity: who changed what, when; what the hub did by itself can be undone.

import { get, here, personaName, post, state } from "../api.js";
import { fill, h } from "../dom.js";
import { clock, day, t, tOr } from "../i18n.js";
import { listenCalmly } from "../live.js";
import { emptyState, guarded, showSkeleton, toast } from "../parts/feedback.js";
import { openMemory } from "../parts/memory.js";
import { segments } from "../parts/search.js";

const DAYS = 30;
const MOST_PAGES = 20;
const UNDOABLE = /^memory\.(merge|resolve|ask|archive|weigh)$/;

/** @param {import("../app.js").View} view */
export async function render(view) {
  const list = h("div");
  /** @type {any[]} */
  let items = [];
  let wanted = "all";
  const draw = () => {
    const shown = items.filter((one) => wanted === "all" || (wanted === "hub" ? !one.by || one.by === "(the hub)" : one.event.startsWith(wanted)));
    if (!shown.length) fill(list, emptyState(t("activity.empty"), t("activity.empty_hint")));
    else fill(list, byDay(shown).map(([title, rows]) => h("section", { class: "day" }, h("h2", null, title), h("ul", { class: "plain-list log" }, rows.map((one) => logLine(one, load))))));
  };
  const load = () => guarded(async () => { items = await recentEvents(); draw(); });
  fill(view.element, segments(t("activity.filter"), [["all", t("status.all")], ["hub", t("activity.hub")], ["memory.forget", t("action.forget")], ["persona", t("nav.persona")]], "all", (value) => { wanted = value; draw(); }), list);
  showSkeleton(list, 6);
  view.onLeave(listenCalmly(() => true, load));
  await load();
}

/** The log is read oldest first: read on to its end. */
async function recentEvents() {
  /** @type {any[]} */
  let items = [];
  let after = 0;
  const since = Math.floor(Date.now() / 1000 - DAYS * 86_400);
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await get("/audit", { since, after_id: after, limit: 200 });
    items = [...items, ...found.items].slice(-400);
    if (!found.next_after_id) break;
    after = found.next_after_id;
  }
  return items.reverse();
}

/** @param {any[]} items */
function byDay(items) {
  /** @type {Map<string, any[]>} */
  const found = new Map();
  items.forEach((one) => { const title = day(one.ts); found.set(title, [...(found.get(title) ?? []), one]); });
  return [...found.entries()];
}

/**
 * @param {any} one
 * @param {() => void} reload
 */
function logLine(one, reload) {
  const undo = () => guarded(async () => { await post("/memory/undo", { ...here(), persona_id: one.persona_id || state.persona, audit_id: one.id }); toast(t("activity.undone")); reload(); });
  return h("li", null, h("time", null, clock(one.ts)), h("span", { class: "what" }, tOr(`event.${one.event}`, one.event)),
    one.persona_id ? h("span", { class: "chip", dir: "auto" }, personaName(one.persona_id)) : null,
    one.memory_id && one.event === "memory.forget" ? h("span", { class: "chip" }, t("activity.erased")) : null,
    one.memory_id && one.event !== "memory.forget" ? h("button", { type: "button", class: "chip link", onclick: () => openMemory(one.memory_id, one.persona_id || state.persona, reload) }, `#${one.memory_id}`) : null,
    h("span", { class: "hint", dir: "auto" }, one.by && one.by !== "(the hub)" ? one.by : t("activity.hub")),
    UNDOABLE.test(one.event) && !state.me?.read_only ? h("button", { type: "button", class: "text-button", onclick: undo }, t("action.undo")) : null);
}
