// Bring in chats: look first at what would be learned, then import with progress, and undo it all.

import { personaName, post, state } from "../api.js";
import { append, fill, h } from "../dom.js";
import { dateTime, number, t } from "../i18n.js";
import { readChats } from "./chat_files.js";
import { dialog, guarded, toast } from "./feedback.js";
import { fileField } from "./file_field.js";
import { quoteLine, typeChip } from "./memory.js";

/** @typedef {import("./chat_files.js").Chat} Chat */
/** @typedef {{at: number, name: string, persona: string, user: string, sessions: string[]}} DoneImport */

const BATCH = 100;
const PREVIEWED = 1000;
const SHOWN = 200;
const STORED = "pm.imports";

/** @returns {DoneImport[]} */
const doneImports = () => JSON.parse(localStorage.getItem(STORED) ?? "[]");

/** @param {() => void} changed */
export function chatImportCard(changed) {
  const field = fileField("chat-file", ".jsonl,.json");
  const report = h("div", { "aria-live": "polite" });
  const undone = h("div");
  const chats = () => guarded(async () => {
    const file = field.file();
    const found = file ? readChats(file.name, await file.text()) : [];
    if (!found.length) toast(t(file ? "chats.none" : "transfer.choose"), { bad: true });
    return found;
  });
  const look = async () => { const found = await chats(); if (found?.length) await guarded(() => showPreview(report, found)); };
  const bring = async () => {
    const found = await chats();
    if (!found?.length) return;
    await guarded(() => importChats(report, found, field.file()?.name ?? ""));
    drawDone(undone, changed);
    changed();
  };
  drawDone(undone, changed);
  return h("section", { class: "card" }, h("h2", null, t("chats.title")), h("p", null, t("chats.hint", { persona: personaName(state.persona) })), field.element,
    h("div", { class: "actions" }, h("button", { type: "button", class: "button primary", onclick: look }, t("transfer.preview")), h("button", { type: "button", class: "button", onclick: bring }, t("action.import"))), report, undone);
}

/** @param {number} done */
function progress(done) {
  return h("div", { class: "progress-line", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(done), "aria-label": t("transfer.reading") }, h("i", { width_pct: done }));
}

/**
 * @param {HTMLElement} place
 * @param {Chat[]} chats
 */
async function showPreview(place, chats) {
  const messages = chats.flatMap((one) => one.messages).slice(0, PREVIEWED);
  /** @type {any[]} */
  const items = [];
  let refused = 0;
  for (let at = 0; at < messages.length; at += BATCH) {
    fill(place, progress((100 * at) / messages.length));
    const found = await post("/console/preview", { persona_id: state.persona, messages: messages.slice(at, at + BATCH) });
    items.push(...found.items);
    refused += found.skipped.length;
  }
  const total = chats.reduce((sum, one) => sum + one.messages.length, 0);
  fill(place, h("h3", null, t("chats.would", { n: number(items.length), chats: chats.length, messages: number(total) })), total > messages.length ? h("p", { class: "hint" }, t("chats.first", { n: number(PREVIEWED) })) : null, refused ? h("p", { class: "hint" }, t("chats.refused", { n: refused })) : null,
    h("ul", { class: "plain-list" }, items.slice(0, SHOWN).map((one) => h("li", null, h("p", { class: "kept" }, typeChip(one.type), h("span", { dir: "auto" }, one.content)), one.quote && one.quote !== one.content ? quoteLine(one.quote) : null))));
}

/**
 * @param {HTMLElement} place
 * @param {Chat[]} chats
 * @param {string} name
 */
async function importChats(place, chats, name) {
  const stamp = Date.now();
  const sessions = chats.map((_, number) => `import-${stamp.toString(36)}-${number}`);
  const done = { at: stamp / 1000, name, persona: state.persona, user: state.user, sessions };
  localStorage.setItem(STORED, JSON.stringify([done, ...doneImports()].slice(0, 20)));
  const total = chats.reduce((sum, one) => sum + one.messages.length, 0);
  let sent = 0;
  let learned = 0;
  for (const [number, chat] of chats.entries()) {
    const session = { persona_id: state.persona, session_id: sessions[number], source_app: state.me?.source_app ?? "import" };
    for (let at = 0; at < chat.messages.length; at += BATCH) {
      fill(place, progress((100 * sent) / total));
      const batch = chat.messages.slice(at, at + BATCH);
      await post("/messages/append", { ...session, messages: batch.map((one, index) => ({ ...one, client_msg_id: `${at + index}` })) });
      sent += batch.length;
    }
    const ran = await post("/jobs/run", { ...session, wait: true });
    learned += ran.jobs.reduce((/** @type {number} */ sum, /** @type {any} */ job) => sum + job.memory_ids.length, 0);
  }
  fill(place, h("p", { class: "verdict" }, t("chats.done", { messages: number(total), n: number(learned) })));
}

/**
 * @param {HTMLElement} place
 * @param {() => void} changed
 */
function drawDone(place, changed) {
  const mine = doneImports().filter((one) => one.user === state.user);
  fill(place);
  if (!mine.length) return;
  append(place, [h("h3", null, t("chats.past")), h("ul", { class: "plain-list log" }, mine.map((one) => h("li", null, h("time", null, dateTime(one.at)), h("span", { dir: "auto" }, one.name), h("span", { class: "chip", dir: "auto" }, personaName(one.persona)),
    h("button", { type: "button", class: "text-button", onclick: () => undoImport(one, place, changed) }, t("chats.undo")))))]);
}

/**
 * @param {DoneImport} done
 * @param {HTMLElement} place
 * @param {() => void} changed
 */
async function undoImport(done, place, changed) {
  const answer = await dialog(t("chats.undo"), h("p", null, t("chats.undo_hint")), [{ value: "", text: t("action.cancel") }, { value: "yes", text: t("chats.undo"), kind: "danger" }]);
  if (answer !== "yes") return;
  await guarded(async () => {
    let deleted = 0;
    for (const session_id of done.sessions) {
      const gone = await post("/messages/delete", { persona_id: done.persona, session_id, source_app: state.me?.source_app ?? "import", all: true });
      deleted += gone.deleted;
    }
    localStorage.setItem(STORED, JSON.stringify(doneImports().filter((one) => one.at !== done.at)));
    toast(t("chats.undone", { n: number(deleted) }));
    drawDone(place, changed);
    changed();
  });
}
