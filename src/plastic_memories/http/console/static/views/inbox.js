// Inbox: candidates wait to be confirmed, changed or rejected.

import { get, here, post, state } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { ago, dateTime, number, t } from "../i18n.js";
import { listenCalmly } from "../live.js";
import { deferred, emptyState, guarded, showSkeleton, toast } from "../parts/feedback.js";
import { quoteLine, typeChip } from "../parts/memory.js";
import { textDiff } from "../parts/diff.js";

/** @typedef {import("../parts/memory.js").Memory} Memory */

/** @param {import("../app.js").View} view */
export function render(view) {
  return new Inbox(view).start();
}

class Inbox {
  /** @param {import("../app.js").View} view */
  constructor(view) {
    this.view = view;
    this.list = h("div", { class: "cards", role: "list", "aria-label": t("nav.inbox") });
    /** @type {Memory[]} */
    this.items = [];
    /** @type {Set<number>} */
    this.hidden = new Set();
  }

  start() {
    fill(this.view.element, this.list);
    const onKey = (/** @type {KeyboardEvent} */ event) => this.onKey(event);
    addEventListener("keydown", onKey);
    this.view.onLeave(() => removeEventListener("keydown", onKey));
    this.view.onLeave(listenCalmly((event) => event.event.startsWith("memory."), () => this.load()));
    return this.load();
  }

  async load() {
    showSkeleton(this.list, 3);
    const found = await guarded(() => get("/memory/list", { ...here(), status: "candidate", limit: 100 }));
    if (!found || this.list.querySelector("textarea")) return;
    this.items = found.items;
    this.draw();
  }

  draw() {
    const at = this.list.contains(document.activeElement) ? this.cards().indexOf(/** @type {HTMLElement} */ (document.activeElement?.closest(".card"))) : -1;
    const seen = this.items.filter((one) => !this.hidden.has(one.id));
    if (!seen.length) fill(this.list, emptyState(t("inbox.empty"), t("inbox.empty_hint"), h("a", { class: "button primary", href: "#/say" }, t("nav.say"))));
    else fill(this.list, seen.map((one) => this.card(one)));
    if (at >= 0) this.cards()[Math.min(at, seen.length - 1)]?.focus();
  }

  cards() {
    return /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll(".card")]);
  }

  /** @param {Memory} memory */
  card(memory) {
    const place = [memory.source_app, memory.session_id].filter(Boolean).join(" · ");
    const readOnly = state.me?.read_only;
    const card = h("article", { class: "card candidate", role: "listitem", tabindex: "0", "data-id": memory.id },
      h("p", { class: "meta" }, typeChip(memory.type), h("code", null, memory.key), h("time", { title: dateTime(memory.created_at) }, ago(memory.created_at)), h("span", { class: "spacer" }), confidence(memory.confidence)),
      replacement(memory),
      memory.quote ? quoteLine(memory.quote) : null,
      place ? h("p", { class: "hint", dir: "auto" }, t("inbox.from", { place })) : null,
      readOnly ? null : h("div", { class: "actions" },
        act("c", t("action.confirm"), () => this.confirm(memory), "primary"),
        memory.replaces?.length && ["preferences", "constraints"].includes(memory.type) ? act("", t("inbox.coexist"), () => this.confirm(memory, { coexist: true })) : null,
        act("e", t("action.edit"), () => this.edit(memory, card)),
        act("x", t("action.reject"), () => this.reject(memory, false)),
        act("n", t("action.never_again"), () => this.reject(memory, true), "danger")));
    return card;
  }

  /**
   * @param {Memory} memory
   * @param {Record<string, any>} [more]
   */
  async confirm(memory, more = {}) {
    const replaces = memory.replaces?.[0];
    const choice = replaces && !more.coexist ? { supersedes_id: replaces.memory_id } : {};
    const done = await guarded(() => post("/memory/confirm", { ...here(), memory_id: memory.id, ...choice, ...more }));
    if (!done) return;
    toast(t("inbox.confirmed"));
    this.items = this.items.filter((one) => one.id !== memory.id);
    this.draw();
    this.view.shell.refreshInbox().catch(() => {});
  }

  /**
   * @param {Memory} memory
   * @param {HTMLElement} card
   */
  edit(memory, card) {
    const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, value: memory.content, "aria-label": t("memory.content"), dir: "auto" }));
    const save = () => this.confirm(memory, { content: text.value.trim() });
    text.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      event.stopPropagation();
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); text.remove(); save(); }
      if (event.key === "Escape") { text.remove(); this.draw(); }
    });
    card.querySelector(".proposal")?.replaceChildren(text);
    text.focus();
  }

  /**
   * @param {Memory} memory
   * @param {boolean} neverAgain
   */
  reject(memory, neverAgain) {
    this.hidden.add(memory.id);
    this.draw();
    const back = () => { this.hidden.delete(memory.id); this.draw(); };
    deferred(neverAgain ? t("inbox.never_again") : t("inbox.rejected"), async (options) => {
      await post("/memory/reject", { ...here(), memory_id: memory.id, never_again: neverAgain }, options);
      this.items = this.items.filter((one) => one.id !== memory.id);
      if (!options.keepalive) this.view.shell.refreshInbox().catch(() => {});
    }, back);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(/** @type {HTMLElement} */ (event.target).tagName)) return;
    const cards = this.cards();
    const at = cards.indexOf(/** @type {HTMLElement} */ (document.activeElement?.closest?.(".card")));
    if (event.key === "j") cards[Math.min(cards.length - 1, at + 1)]?.focus();
    else if (event.key === "k") cards[Math.max(0, at - 1)]?.focus();
    else if (at >= 0) cards[at].querySelector(`button[data-key="${CSS.escape(event.key)}"]`)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }
}

/**
 * @param {string} key
 * @param {string} text
 * @param {() => void} onclick
 * @param {string} [kind]
 */
function act(key, text, onclick, kind = "") {
  return h("button", { type: "button", class: `button ${kind}`, "data-key": key, onclick }, text, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
}

/** @param {number} value */
function confidence(value) {
  return h("span", { class: "confidence", title: t("memory.confidence") }, h("span", { class: "meter" }, h("i", { width_pct: Math.round(value * 100) })), number(Math.round(value * 100)), "%");
}

/** @param {Memory} memory */
function replacement(memory) {
  const old = memory.replaces?.[0];
  const proposal = h("div", { class: "proposal", dir: "auto" }, old ? textDiff(old.content, memory.content).filter((run) => run.kind !== "del").map((run) => (run.kind === "ins" ? h("ins", null, run.text) : run.text)) : memory.content);
  if (!old) return h("div", { class: "content" }, proposal);
  return h("div", { class: "beside" },
    h("div", { class: "old" }, h("h3", null, t("inbox.now")), h("p", { class: "content", dir: "auto" }, old.content)),
    h("div", { class: "new" }, h("h3", null, t("inbox.would_be")), h("div", { class: "content" }, proposal)));
}

