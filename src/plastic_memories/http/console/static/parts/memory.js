// One memory: how it looks in a list, its page with history, and how it is forgotten.

import { get, here, personaName, post, state } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { ago, dateTime, number, t, tOr } from "../i18n.js";
import { textDiff } from "./diff.js";
import { dialog, guarded, iconButton, skeleton, toast } from "./feedback.js";

/** @typedef {{id: number, persona_id: string, type: string, key: string, content: string, status: string, scope: string, source_type: string, source_app: string | null, session_id: string | null, source_message_ids: number[], quote: string | null, confidence: number, importance: number, pinned: boolean, expires_at: number | null, occurred_at: number | null, supersedes_id: number | null, created_at: number, updated_at: number, last_recalled_at: number | null, recall_count: number, replaces?: {memory_id: number, key: string, content: string}[]}} Memory */

/** @param {string} type */
export function typeChip(type) {
  return h("span", { class: `chip type-${type}` }, tOr(`type.${type}`, type));
}

/** @param {string} status */
export function statusChip(status) {
  return h("span", { class: `chip status-${status}` }, tOr(`status.${status}`, status));
}

/** @param {Memory} memory */
export function metaLine(memory) {
  return h("p", { class: "meta" },
    typeChip(memory.type),
    memory.status === "active" ? null : statusChip(memory.status),
    memory.scope === "global" ? h("span", { class: "chip" }, t("scope.global")) : null,
    memory.pinned ? h("span", { class: "chip accent" }, icon("pin"), t("memory.pinned")) : null,
    memory.source_app ? h("span", null, memory.source_app) : null,
    h("time", { title: dateTime(memory.updated_at) }, ago(memory.updated_at)));
}

/** @param {string} text */
export function quoteLine(text) {
  return h("blockquote", null, text);
}

/** Of the memory's own persona: it may not be the one that is looked at. */
const ownPlace = (/** @type {Memory} */ memory) => ({ persona_id: memory.persona_id || state.persona, bots: "all" });

/**
 * @param {Memory} memory
 * @param {Record<string, any>} changes
 * @returns {Promise<Memory>}
 */
export async function updateMemory(memory, changes) {
  const done = await post("/memory/update", { ...ownPlace(memory), memory_id: memory.id, ...changes });
  return done.memory;
}

/**
 * @param {Memory} memory
 * @param {{keepalive: boolean}} [options]
 */
export const revokeMemory = (memory, options) => post("/memory/revoke", { ...ownPlace(memory), memory_id: memory.id }, options);

/**
 * Ask, forget for good, and show the receipt. Resolve to whether something was forgotten.
 * @param {Memory[]} memories
 * @param {{neverAgain?: boolean}} [options]
 */
export async function forgetMemories(memories, options = {}) {
  const never = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: options.neverAgain ?? false }));
  const messages = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  const body = [
    h("p", null, t("forget.explain", { n: memories.length })),
    h("ul", { class: "plain-list" }, memories.slice(0, 5).map((one) => h("li", { class: "clamp" }, one.content))),
    memories.length > 5 ? h("p", { class: "hint" }, t("forget.more", { n: memories.length - 5 })) : null,
    h("label", { class: "check" }, never, h("span", null, t("forget.never_again"), h("small", null, t("forget.never_again_hint")))),
    h("label", { class: "check" }, messages, h("span", null, t("forget.messages"), h("small", null, t("forget.messages_hint")))),
  ];
  const answer = await dialog(t("forget.title"), body, [
    { value: "", text: t("action.cancel") },
    { value: "yes", text: t("action.forget"), kind: "danger" },
  ]);
  if (answer !== "yes") return false;
  const done = await guarded(() => post("/memory/forget", {
    ...ownPlace(memories[0]),
    memory_ids: memories.map((one) => one.id),
    never_again: never.checked,
    include_messages: messages.checked,
  }));
  if (!done) return false;
  await showReceipt(done.receipt, t("forget.done", { n: done.deleted }));
  return true;
}

/**
 * @param {Record<string, any>} receipt
 * @param {string} title
 */
export async function showReceipt(receipt, title) {
  await dialog(title, [h("p", { class: "hint" }, t("receipt.explain")), receiptTable(receipt)], [{ value: "ok", text: t("action.ok"), kind: "primary" }]);
}

/** @param {Record<string, any>} receipt */
function receiptTable(receipt) {
  /** @type {[string, string][]} */
  const rows = [];
  const walk = (/** @type {string} */ prefix, /** @type {any} */ value) => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      Object.entries(value).forEach(([name, inner]) => {
        const label = tOr(`receipt.${name}`, name);
        walk(prefix ? `${prefix} · ${label}` : label, inner);
      });
    } else if (Array.isArray(value)) {
      if (value.length) rows.push([prefix, value.map((one) => (typeof one === "object" ? JSON.stringify(one) : tOr(`receipt_note.${one}`, String(one)))).join(", ")]);
    } else if (value || (value === 0 && prefix.startsWith(t("receipt.remaining")))) rows.push([prefix, value === true ? t("receipt.yes") : tOr(`receipt_note.${value}`, String(value))]);
  };
  walk("", receipt);
  return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

/**
 * Open a memory: everything known about it, its history, and what can be done with it.
 * @param {number} id
 * @param {string} persona
 * @param {() => void} changed
 */
export async function openMemory(id, persona, changed) {
  const body = h("div", { class: "memory-page" }, skeleton(3));
  const closing = dialog(t("memory.title"), body, [], { wide: true });
  await guarded(async () => {
    const place = { persona_id: persona, bots: "all", memory_id: id };
    const [memory, history] = await Promise.all([get("/memory/get", place), get("/memory/history", place)]);
    fill(body, memoryPage(memory, history.items, changed));
  });
  await closing;
}

/**
 * @param {Memory} memory
 * @param {any[]} versions
 * @param {() => void} changed
 */
function memoryPage(memory, versions, changed) {
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 3, "aria-label": t("memory.content"), value: memory.content, dir: "auto" }));
  const close = () => text.closest("dialog")?.querySelector("header button")?.dispatchEvent(new Event("click"));
  const save = () => guarded(async () => {
    const before = memory.content;
    const next = await updateMemory(memory, { content: text.value });
    toast(t("memory.saved"), { undo: () => guarded(async () => { await updateMemory(next, { content: before }); changed(); }) });
    close();
    changed();
  });
  const act = (/** @type {() => Promise<any>} */ work) => () => guarded(async () => { const done = await work(); if (done === false) return; close(); changed(); });
  const canEdit = memory.status === "active" && !state.me?.read_only;
  return [
    metaLine(memory),
    canEdit ? [text, h("div", { class: "actions" },
      h("button", { type: "button", class: "button primary", onclick: save }, t("action.save")),
      h("button", { type: "button", class: "button", onclick: act(() => updateMemory(memory, { pinned: !memory.pinned })) }, icon("pin"), memory.pinned ? t("action.unpin") : t("action.pin")),
      h("button", { type: "button", class: "button", onclick: act(() => updateMemory(memory, { scope: memory.scope === "global" ? "persona" : "global" })) }, memory.scope === "global" ? t("action.only_here") : t("action.everywhere")),
      h("span", { class: "spacer" }),
      h("button", { type: "button", class: "button", onclick: act(() => revokeMemory(memory)) }, t("action.revoke")),
      h("button", { type: "button", class: "button danger", onclick: act(() => forgetMemories([memory])) }, icon("trash"), t("action.forget")))]
      : h("p", { class: "content", dir: "auto" }, memory.content),
    memory.quote ? h("section", null, h("h3", null, t("memory.said")), quoteLine(memory.quote), sourceLink(memory)) : null,
    h("section", null, h("h3", null, t("memory.facts")), factList(memory)),
    h("section", null, h("h3", null, t("memory.history")), h("ol", { class: "history" }, versions.map((one, index) => versionItem(one, versions[index - 1])).reverse())),
  ];
}

/** @param {Memory} memory */
function sourceLink(memory) {
  if (!memory.source_message_ids.length) return null;
  const close = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).closest("dialog")?.close();
  return h("p", null, h("a", { href: `#/timeline?message=${memory.source_message_ids[0]}`, onclick: close }, t("memory.show_talk")));
}

/** @param {Memory} memory */
function factList(memory) {
  /** @type {[string, string | null][]} */
  const rows = [
    ["memory.key", memory.key],
    ["memory.persona", personaName(memory.persona_id)],
    ["memory.source", tOr(`source.${memory.source_type}`, memory.source_type)],
    ["memory.app", memory.source_app],
    ["memory.created", dateTime(memory.created_at)],
    ["memory.occurred", memory.occurred_at ? dateTime(memory.occurred_at) : null],
    ["memory.expires", memory.expires_at ? dateTime(memory.expires_at) : null],
    ["memory.confidence", number(memory.confidence)],
    ["memory.importance", number(memory.importance)],
    ["memory.recalled", memory.recall_count ? t("memory.recalled_times", { n: memory.recall_count, when: ago(memory.last_recalled_at) }) : t("time.never")],
  ];
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value).map(([name, value]) => h("div", null, h("dt", null, t(name)), h("dd", { dir: "auto" }, value))));
}

/**
 * @param {any} version
 * @param {any} before
 */
function versionItem(version, before) {
  const runs = before ? textDiff(before.content, version.content) : [{ kind: "same", text: version.content }];
  return h("li", null,
    h("p", { class: "meta" }, version.superseded_by ? h("span", { class: "chip" }, t("memory.older")) : statusChip(version.status), h("time", null, dateTime(version.created_at))),
    h("p", { class: "content", dir: "auto" }, runs.map((run) => (run.kind === "same" ? run.text : h(run.kind, null, run.text)))),
    h("p", { class: "hint" }, version.changes.map((/** @type {any} */ change) => `${tOr(`event.${change.event}`, change.event)} · ${change.by || t("activity.hub")} · ${dateTime(change.ts)}`).join("  ")));
}

/**
 * A row of a list; `actions` come to its right.
 * @param {Memory} memory
 * @param {...import("../dom.js").Child} actions
 */
export function memoryRow(memory, ...actions) {
  return h("article", { class: "memory-row", "data-id": memory.id }, h("div", { class: "memory-text" }, h("p", { class: "content", dir: "auto" }, memory.content), metaLine(memory)), h("div", { class: "row-actions" }, actions));
}

export { here, iconButton };
