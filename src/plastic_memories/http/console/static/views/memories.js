// Memories: search as you type, filters, edit in place, many at once.

import { get, here, post, state } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { dateTime, t } from "../i18n.js";
import { listenCalmly } from "../live.js";
import { deferred, dialog, emptyState, guarded, iconButton, showSkeleton, toast } from "../parts/feedback.js";
import { forgetMemories, memoryRow, openMemory, revokeMemory, updateMemory } from "../parts/memory.js";
import { searchField, segments, selectField } from "../parts/search.js";
import { demoButton } from "../parts/demo.js";

/** @typedef {import("../parts/memory.js").Memory} Memory */

const PAGE = 50;
const SLICE = 10;
const TYPES = ["profile", "stable_fact", "fact", "note", "event", "summary", "preferences", "constraints", "identity", "values", "rule", "persona", "glossary"];
const STATUSES = ["active", "candidate", "revoked", "expired", "all"];
const DAY_S = 86_400;

/** @param {import("../app.js").View} view */
export function render(view) {
  return new MemoriesView(view).start();
}

class MemoriesView {
  /** @param {import("../app.js").View} view */
  constructor(view) {
    this.view = view;
    this.filter = { q: view.params.get("q") ?? "", status: view.params.get("status") ?? "active", type: "", days: "", sort: "newest", source_app: "" };
    /** @type {Memory[]} */
    this.items = [];
    /** @type {Set<number>} */
    this.selected = new Set();
    /** @type {Set<number>} */
    this.hidden = new Set();
    /** @type {string | null} */
    this.cursor = null;
    this.turn = 0;
    this.list = h("div", { class: "memory-list", role: "list", "aria-label": t("nav.memories") });
    this.bar = h("div", { class: "bulk", hidden: true });
    this.more = h("div", { class: "more-rows" });
    /** @type {AbortController | null} */
    this.abort = null;
  }

  start() {
    fill(this.view.element, this.toolbar(), this.bar, this.list, this.more);
    const observer = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) this.nextPage(); }, { rootMargin: "600px" });
    observer.observe(this.more);
    this.view.onLeave(() => observer.disconnect());
    this.view.onLeave(listenCalmly((event) => event.event.startsWith("memory.") || event.event === "import", () => this.refresh()));
    const onKey = (/** @type {KeyboardEvent} */ event) => this.onKey(event);
    addEventListener("keydown", onKey);
    this.view.onLeave(() => removeEventListener("keydown", onKey));
    return this.load();
  }

  toolbar() {
    const set = (/** @type {"q" | "status" | "type" | "days" | "sort" | "source_app"} */ name) => (/** @type {string} */ value) => { this.filter[name] = value; this.load(); };
    return h("div", { class: "toolbar" },
      searchField(t("memories.search"), set("q"), this.filter.q),
      h("div", { class: "filters" },
        segments(t("memories.status"), STATUSES.map((one) => [one, t(`status.${one}`)]), this.filter.status, set("status")),
        selectField(t("memories.type"), [["", t("memories.every_type")], ...TYPES.map((one) => /** @type {[string, string]} */ ([one, t(`type.${one}`)]))], "", set("type")),
        selectField(t("memories.time"), [["", t("memories.any_time")], ["1", t("memories.today")], ["7", t("memories.week")], ["30", t("memories.month")]], "", set("days")),
        selectField(t("memories.sort"), [["newest", t("sort.newest")], ["oldest", t("sort.oldest")], ["importance", t("sort.importance")]], "newest", set("sort")),
        h("input", { class: "app-filter", type: "text", placeholder: t("memories.app"), "aria-label": t("memories.app"), onchange: (/** @type {any} */ event) => set("source_app")(event.target.value.trim()) }),
        h("button", { type: "button", class: "text-button", onclick: () => this.showNeverAgain() }, t("never.title"))));
  }

  params() {
    const { q, status, type, days, sort, source_app } = this.filter;
    return { ...here(), q, status, type, sort, source_app, since: days ? Math.floor(Date.now() / 1000 - Number(days) * DAY_S) : "", limit: PAGE };
  }

  async load() {
    const turn = (this.turn += 1);
    this.abort?.abort();
    this.abort = new AbortController();
    showSkeleton(this.list, 5);
    const found = await guarded(() => get("/memory/list", this.params(), this.abort?.signal));
    if (!found || turn !== this.turn) return;
    this.items = found.items;
    this.cursor = found.next_cursor;
    this.selected.clear();
    this.draw();
  }

  /** Load again as many rows as there are, and keep the place: something has changed elsewhere. */
  async refresh() {
    if (this.list.contains(document.activeElement) && document.activeElement instanceof HTMLTextAreaElement) return;
    const turn = this.turn;
    const found = await guarded(() => get("/memory/list", { ...this.params(), limit: Math.min(200, Math.max(PAGE, this.items.length)) }));
    if (!found || turn !== this.turn) return;
    this.items = found.items;
    this.cursor = found.next_cursor;
    this.draw();
  }

  async nextPage() {
    if (!this.cursor) return;
    const turn = this.turn;
    const cursor = this.cursor;
    this.cursor = null;
    const found = await guarded(() => get("/memory/list", { ...this.params(), cursor }));
    if (!found || turn !== this.turn) return;
    this.items.push(...found.items);
    // A few at a time: a frame between them lets the page scroll on.
    for (let at = 0; at < found.items.length && turn === this.turn; at += SLICE) {
      this.list.append(...found.items.slice(at, at + SLICE).map((/** @type {Memory} */ one) => this.row(one)));
      await new Promise(requestAnimationFrame);
    }
    if (turn === this.turn) this.cursor = found.next_cursor;
  }

  draw() {
    const seen = this.items.filter((one) => !this.hidden.has(one.id));
    if (!seen.length) fill(this.list, this.emptyText());
    else fill(this.list, seen.map((one) => this.row(one)));
    this.drawBar();
  }

  emptyText() {
    if (this.filter.q || this.filter.type || this.filter.days || this.filter.source_app) return emptyState(t("memories.none_found"), t("memories.none_found_hint"));
    if (this.filter.status === "candidate") return emptyState(t("inbox.empty"), t("inbox.empty_hint"));
    return emptyState(t("memories.empty"), t("memories.empty_hint"), h("a", { class: "button primary", href: "#/say" }, t("nav.say")), demoButton(this.view, { onlyLoad: true }));
  }

  /** @param {Memory} memory */
  row(memory) {
    const mayWrite = !state.me?.read_only;
    const isLive = memory.status === "active" && mayWrite;
    const open = () => openMemory(memory.id, memory.persona_id, () => this.refresh());
    const row = memoryRow(memory,
      isLive ? iconButton("pin", memory.pinned ? t("action.unpin") : t("action.pin"), () => this.pin(memory), { "aria-pressed": String(memory.pinned) }) : null,
      isLive ? iconButton("edit", t("action.edit"), () => this.edit(memory, row)) : null,
      isLive ? iconButton("close", t("action.revoke"), () => this.revoke([memory])) : null,
      mayWrite ? iconButton("trash", t("action.forget"), () => this.forget([memory])) : null);
    const box = h("input", { type: "checkbox", "aria-label": t("memories.select", { text: memory.content.slice(0, 40) }), checked: this.selected.has(memory.id), onchange: (/** @type {any} */ event) => this.select(memory, event.target.checked) });
    row.prepend(mayWrite ? box : "");
    row.setAttribute("role", "listitem");
    const text = /** @type {HTMLElement} */ (row.querySelector(".memory-text"));
    const opener = h("button", { type: "button", class: "opener", "aria-label": t("memory.open", { text: memory.content.slice(0, 60) }), onclick: open });
    text.append(opener);
    text.addEventListener("dblclick", () => isLive && this.edit(memory, row));
    return row;
  }

  /**
   * @param {Memory} memory
   * @param {boolean} isOn
   */
  select(memory, isOn) {
    if (isOn) this.selected.add(memory.id);
    else this.selected.delete(memory.id);
    this.drawBar();
  }

  chosen() {
    return this.items.filter((one) => this.selected.has(one.id));
  }

  drawBar() {
    const n = this.selected.size;
    this.bar.hidden = n === 0;
    if (!n) return;
    const button = (/** @type {string} */ text, /** @type {() => any} */ onclick, kind = "") => h("button", { type: "button", class: `button ${kind}`, onclick }, text);
    fill(this.bar, h("b", null, t("memories.selected", { n })),
      button(t("memories.select_all"), () => { this.items.forEach((one) => this.selected.add(one.id)); this.draw(); }),
      this.filter.status === "candidate" ? button(t("action.confirm"), () => this.confirmMany(), "primary") : button(t("action.revoke"), () => this.revoke(this.chosen())),
      button(t("action.forget"), () => this.forget(this.chosen()), "danger"),
      button(t("action.cancel"), () => { this.selected.clear(); this.draw(); }));
  }

  async confirmMany() {
    await guarded(() => post("/memory/confirm", { ...here(), memory_ids: [...this.selected] }));
    this.load();
  }

  /** @param {Memory} memory */
  async pin(memory) {
    const done = await guarded(() => updateMemory(memory, { pinned: !memory.pinned }));
    if (!done) return;
    toast(done.pinned ? t("memory.now_pinned") : t("memory.now_unpinned"), { undo: () => guarded(async () => { await updateMemory(done, { pinned: !done.pinned }); this.refresh(); }) });
    this.refresh();
  }

  /**
   * @param {Memory} memory
   * @param {HTMLElement} row
   */
  edit(memory, row) {
    const place = /** @type {HTMLElement} */ (row.querySelector(".content"));
    const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, value: memory.content, "aria-label": t("memory.content"), dir: "auto" }));
    const back = () => editor.replaceWith(place);
    const save = () => guarded(async () => {
      if (text.value.trim() === memory.content) return back();
      const next = await updateMemory(memory, { content: text.value.trim() });
      toast(t("memory.saved"), { undo: () => guarded(async () => { await updateMemory(next, { content: memory.content }); this.refresh(); }) });
      text.blur();
      this.refresh();
    });
    const editor = h("div", { class: "editor" }, text, h("div", { class: "actions" }, h("button", { type: "button", class: "button primary", onclick: save }, t("action.save")), h("button", { type: "button", class: "button", onclick: back }, t("action.cancel"))));
    text.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") back();
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); save(); }
    });
    place.replaceWith(editor);
    text.focus();
  }

  /** @param {Memory[]} memories */
  revoke(memories) {
    memories.forEach((one) => this.hidden.add(one.id));
    this.selected.clear();
    this.draw();
    const back = () => { memories.forEach((one) => this.hidden.delete(one.id)); this.draw(); };
    deferred(t("memories.revoked", { n: memories.length }), async (options) => {
      for (const one of memories) await revokeMemory(one, options);
      back();
      if (!options.keepalive) this.refresh();
    }, back);
  }

  /** @param {Memory[]} memories */
  async forget(memories) {
    if (await forgetMemories(memories)) this.load();
  }

  async showNeverAgain() {
    const found = await guarded(() => get("/console/never_again", { persona_id: state.persona }));
    if (!found) return;
    const rows = found.items.map((/** @type {any} */ one) => {
      const row = h("li", null, h("code", null, one.digest.slice(0, 12)), h("time", null, dateTime(one.created_at)),
        h("button", { type: "button", class: "text-button", onclick: () => guarded(async () => { await post("/console/allow_again", { persona_id: state.persona, digest: one.digest }); row.remove(); toast(t("never.lifted")); }) }, t("never.lift")));
      return row;
    });
    await dialog(t("never.title"), [h("p", null, t("never.explain")), rows.length ? h("ul", { class: "plain-list never" }, rows) : h("p", { class: "hint" }, t("never.none"))], []);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.isComposing || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(/** @type {HTMLElement} */ (event.target).tagName)) return;
    if (event.key !== "j" && event.key !== "k") return;
    const openers = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll(".opener")]);
    const at = openers.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    openers[Math.max(0, Math.min(openers.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
  }
}

