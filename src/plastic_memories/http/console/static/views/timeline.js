// Timeline: talks, summaries and events on one axis, and what is coming up.

import { get, here, state } from "../api.js";
import { fill, h } from "../dom.js";
import { clock, day, t } from "../i18n.js";
import { listenCalmly } from "../live.js";
import { emptyState, guarded, showSkeleton } from "../parts/feedback.js";
import { openMemory, typeChip } from "../parts/memory.js";

/** @param {import("../app.js").View} view */
export function render(view) {
  const load = () => guarded(() => show(view));
  view.onLeave(listenCalmly((event) => /^(memory|messages?)\./.test(event.event), load));
  showSkeleton(view.element, 5);
  return load();
}

/** @param {import("../app.js").View} view */
async function show(view) {
  const [recent, events, summaries, learned, upcoming] = await Promise.all([
    get("/messages/recent", { ...here(), limit: 200 }),
    get("/memory/list", { ...here(), type: "event", limit: 100 }),
    get("/memory/list", { ...here(), type: "summary", limit: 100 }),
    get("/memory/list", { ...here(), status: "all", limit: 200 }),
    get("/events/upcoming", { ...here(), days: 60 }),
  ]);
  const byMessage = new Map(learned.items.flatMap((/** @type {any} */ one) => one.source_message_ids.map((/** @type {number} */ id) => [id, one])));
  const items = [
    ...recent.messages.map((/** @type {any} */ one) => ({ ts: one.ts, kind: "message", row: one })),
    ...events.items.map((/** @type {any} */ one) => ({ ts: one.occurred_at ?? one.created_at, kind: "event", row: one })),
    ...summaries.items.map((/** @type {any} */ one) => ({ ts: one.created_at, kind: "summary", row: one })),
  ].filter((one) => one.ts <= Date.now() / 1000 + 60).sort((a, b) => b.ts - a.ts);
  if (!items.length && !upcoming.items.length) {
    fill(view.element, emptyState(t("timeline.empty"), t("timeline.empty_hint"), h("a", { class: "button primary", href: "#/connect" }, t("nav.connect"))));
    return;
  }
  fill(view.element, upcomingList(upcoming.items), days(items).map(([title, rows]) => h("section", { class: "day" }, h("h2", null, title), h("ol", { class: "axis" }, rows.map((one) => item(one, byMessage))))));
  const wanted = view.params.get("message");
  if (wanted) view.element.querySelector(`[data-message="${CSS.escape(wanted)}"]`)?.scrollIntoView({ block: "center" });
  if (wanted) view.element.querySelector(`[data-message="${CSS.escape(wanted)}"]`)?.classList.add("wanted");
}

/** @param {any[]} items */
function upcomingList(items) {
  if (!items.length) return null;
  return h("section", { class: "card upcoming" }, h("h2", null, t("timeline.upcoming")), h("ul", { class: "plain-list" }, items.map((one) => h("li", null, h("b", null, one.next_date), h("span", { dir: "auto" }, one.content), h("small", null, one.days_away === 0 ? t("timeline.today") : t("timeline.in_days", { n: one.days_away }))))));
}

/** @param {{ts: number, kind: string, row: any}[]} items */
function days(items) {
  /** @type {Map<string, {ts: number, kind: string, row: any}[]>} */
  const found = new Map();
  items.forEach((one) => { const title = day(one.ts); found.set(title, [...(found.get(title) ?? []), one]); });
  return [...found.entries()].map(([title, rows]) => /** @type {[string, typeof rows]} */ ([title, rows.slice().reverse()]));
}

/**
 * @param {{ts: number, kind: string, row: any}} one
 * @param {Map<number, any>} byMessage
 */
function item({ ts, kind, row }, byMessage) {
  const time = h("time", null, clock(ts));
  if (kind !== "message") return h("li", { class: `axis-${kind}` }, time, typeChip(row.type), h("button", { type: "button", class: "link", dir: "auto", onclick: () => openMemory(row.id, row.persona_id, () => {}) }, row.content));
  const memory = byMessage.get(row.id);
  return h("li", { class: `axis-message ${row.role}`, "data-message": row.id }, time, h("span", { class: "speaker", dir: "auto" }, row.speaker || t(`role.${row.role === "user" ? "user" : "assistant"}`)), h("span", { class: "text", dir: "auto" }, row.content),
    memory ? h("button", { type: "button", class: "chip accent link", onclick: () => openMemory(memory.id, memory.persona_id ?? state.persona, () => {}) }, t("timeline.learned")) : null);
}
