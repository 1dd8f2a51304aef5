// Say something: what is kept of it, as what, what is left out, and what a prompt would hold now.

import { get, here, personaName, post, request, state } from "../api.js";
import { append, fill, h, icon } from "../dom.js";
import { number, t, tOr } from "../i18n.js";
import { emptyState, guarded, showError, skeleton } from "../parts/feedback.js";
import { openMemory, statusChip, typeChip } from "../parts/memory.js";
import { demoButton } from "../parts/demo.js";

const SESSION = `console-${crypto.randomUUID().slice(0, 8)}`;
const SENTENCE = /[^。！？!?.;；\n]+[。！？!?.;；\n]*/gu;
/** @type {{role: string, content: string}[]} */
const talk = [];

/** @param {import("../app.js").View} view */
export async function render(view) {
  const thread = h("div", { class: "thread", "aria-live": "polite" });
  const prompt = h("aside", { class: "prompt-now", "aria-label": t("say.prompt") });
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, placeholder: t("say.placeholder"), "aria-label": t("say.placeholder"), dir: "auto", "data-search": true }));
  const button = /** @type {HTMLButtonElement} */ (h("button", { class: "button primary", type: "submit" }, icon("send"), t("say.send")));
  const keep = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  const model = state.me?.has_upstream ? await modelField() : null;
  const send = async (/** @type {Event | null} */ event) => {
    event?.preventDefault();
    const text = field.value.trim();
    if (!text || button.disabled) return;
    button.disabled = true;
    field.value = "";
    thread.querySelector(".empty")?.remove();
    const turn = h("article", { class: "turn" }, h("p", { class: "said", dir: "auto" }, text), skeleton(1));
    thread.append(turn);
    turn.scrollIntoView({ block: "nearest" });
    try {
      await showTurn(turn, text, keep.checked, model);
      await view.shell.refreshInbox();
      await showPrompt(prompt, text);
    } catch (error) {
      turn.querySelector(".skeletons")?.remove();
      showError(error);
    } finally {
      button.disabled = false;
      field.focus();
    }
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(null); }
  });
  fill(view.element, h("div", { class: "say" },
    h("div", { class: "say-talk" }, thread,
      state.me?.read_only ? h("p", { class: "notice" }, t("error.read_only")) : h("form", { class: "composer", onsubmit: send }, field, h("div", { class: "composer-foot" }, h("label", { class: "check small" }, keep, h("span", null, t("say.keep_rest"))), model?.element, h("span", { class: "spacer" }), button))),
    prompt));
  fill(thread, welcome(view, (text) => { field.value = text; send(null); }));
  await showPrompt(prompt, "");
}

/**
 * @param {import("../app.js").View} view
 * @param {(text: string) => void} say
 */
function welcome(view, say) {
  const examples = [t("say.example1"), t("say.example2"), t("say.example3")];
  return emptyState(t("say.title", { persona: personaName(state.persona) }), t("say.hint"),
    examples.map((text) => h("button", { type: "button", class: "button example", onclick: () => say(text) }, text)), demoButton(view, { onlyLoad: true }));
}

async function modelField() {
  const found = await guarded(() => request("/v1/models").then((response) => response.json()));
  const names = (found?.data ?? []).map((/** @type {any} */ one) => String(one.id));
  const stored = localStorage.getItem("pm.model") ?? names[0] ?? "";
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", list: "models", value: stored, placeholder: t("say.model"), "aria-label": t("say.model"), onchange: () => localStorage.setItem("pm.model", input.value) }));
  return { element: h("span", { class: "model" }, input, h("datalist", { id: "models" }, names.map((/** @type {string} */ one) => h("option", { value: one })))), name: () => input.value };
}

/**
 * @param {HTMLElement} turn
 * @param {string} text
 * @param {boolean} keepRest
 * @param {{name: () => string} | null} model
 */
async function showTurn(turn, text, keepRest, model) {
  const reply = model?.name() ? chat(text, model.name()) : null;
  const done = await post("/memory/write", { persona_id: state.persona, messages: [{ role: "user", content: text }], keep_rest: keepRest, source_app: state.me?.source_app ?? "console", session_id: SESSION });
  const ids = [...new Set(done.items.map((/** @type {any} */ one) => one.memory_id))];
  const [looked, ...rows] = await Promise.all([
    post("/console/preview", { persona_id: state.persona, messages: [{ role: "user", content: text }] }),
    ...ids.map((id) => get("/memory/get", { ...here(), memory_id: id })),
  ]);
  fill(turn, markedText(text, rows.map((one) => one.quote || "")), outcome(rows, done.skipped, text, looked.masked[0]));
  if (reply) await showReply(turn, reply);
}

/**
 * @param {string} text
 * @param {string[]} quotes
 */
function markedText(text, quotes) {
  const sentences = text.match(SENTENCE) ?? [text];
  return h("p", { class: "said", dir: "auto" }, sentences.map((one) => (isCovered(one, quotes) ? h("mark", null, one) : one)));
}

/**
 * @param {string} sentence
 * @param {string[]} quotes
 */
function isCovered(sentence, quotes) {
  const bare = sentence.trim();
  return quotes.some((quote) => quote && (quote.includes(bare) || bare.includes(quote)));
}

/**
 * @param {any[]} rows
 * @param {{index: number, reason: string}[]} skipped
 * @param {string} text
 * @param {string} masked
 */
function outcome(rows, skipped, text, masked) {
  const quotes = rows.map((one) => one.quote || "");
  const rest = rows.every((one) => one.quote) ? (text.match(SENTENCE) ?? [text]).filter((one) => one.trim() && !isCovered(one, quotes)) : [];
  const leftOut = rows.length ? rest : text.match(SENTENCE) ?? [text];
  return h("div", { class: "outcome" },
    rows.length ? h("section", null, h("h3", null, t("say.kept", { n: rows.length })), h("ul", null, rows.map(keptItem))) : null,
    skipped.length ? h("section", null, h("h3", null, t("say.refused")), h("ul", null, skipped.map((one) => h("li", null, reasonText(one.reason))))) : null,
    leftOut.length ? h("section", { class: "left-out" }, h("h3", null, t("say.left_out")), h("ul", null, leftOut.map((one) => h("li", null, h("q", { dir: "auto" }, one.trim()), h("small", null, whyLeftOut(one, masked)))))) : null);
}

/**
 * @param {string} sentence
 * @param {string} masked
 */
function whyLeftOut(sentence, masked) {
  if (!masked.includes(sentence.trim())) return t("say.sensitive");
  return /[?？]\s*$/.test(sentence) ? t("say.question") : t("say.nothing_lasting");
}

/** @param {any} memory */
function keptItem(memory) {
  return h("li", { class: "kept" }, typeChip(memory.type), h("button", { type: "button", class: "link", dir: "auto", onclick: () => openMemory(memory.id, memory.persona_id, () => {}) }, memory.content),
    memory.status === "active" ? null : [statusChip(memory.status), memory.status === "candidate" ? h("a", { href: "#/inbox" }, t("say.review")) : null]);
}

/** @param {string} reason */
function reasonText(reason) {
  const [kind, category] = reason.split(": ");
  const known = tOr(`reason.${kind}`, kind);
  return category ? `${known} (${tOr(`reason.${category}`, category)})` : known;
}

/**
 * Show what the prompt of the next reply would hold.
 * @param {HTMLElement} place
 * @param {string} text
 */
async function showPrompt(place, text) {
  const found = await guarded(() => post("/memory/recall", { ...here(), query: text || "…", limit: 10, explain: true }));
  if (!found) return;
  fill(place, h("h2", null, t("say.prompt")), h("p", { class: "hint" }, t("say.prompt_hint", { n: number(found.tokens) })),
    found.stable_block.text ? [h("h3", null, t("lab.stable")), h("pre", { class: "block", dir: "auto", tabindex: "0" }, found.stable_block.text)] : null,
    found.turn_block.text && text ? [h("h3", null, t("lab.turn")), h("pre", { class: "block", dir: "auto", tabindex: "0" }, found.turn_block.text)] : null,
    found.stable_block.text || (found.turn_block.text && text) ? null : h("p", { class: "hint" }, t("say.prompt_empty")));
}

/**
 * @param {string} text
 * @param {string} model
 */
async function chat(text, model) {
  talk.push({ role: "user", content: text });
  const response = await request("/v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model, messages: talk.slice(-20), metadata: { persona_id: state.persona, session_id: SESSION } }),
  });
  const body = await response.json();
  const answer = String(body.choices?.[0]?.message?.content ?? "");
  talk.push({ role: "assistant", content: answer });
  return { answer, ids: (response.headers.get("X-Memory-Ids") ?? "").split(",").filter(Boolean), tokens: Number(response.headers.get("X-Memory-Tokens") ?? 0) };
}

/**
 * @param {HTMLElement} turn
 * @param {Promise<{answer: string, ids: string[], tokens: number}>} reply
 */
async function showReply(turn, reply) {
  const { answer, ids, tokens } = await reply;
  append(turn, h("div", { class: "reply" }, h("p", { class: "answer", dir: "auto" }, answer), h("p", { class: "hint" }, t("say.used", { n: ids.length, tokens: number(tokens) }),
    ids.slice(0, 8).map((id) => h("button", { type: "button", class: "chip link", onclick: () => openMemory(Number(id), state.persona, () => {}) }, `#${id}`)))));
}
