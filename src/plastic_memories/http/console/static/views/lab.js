// Recall lab: what a message would recall, why, and what two runs have different.

import { get, here, post } from "../api.js";
import { fill, h } from "../dom.js";
import { clock, number, t, tOr } from "../i18n.js";
import { emptyState, guarded } from "../parts/feedback.js";
import { openMemory, typeChip } from "../parts/memory.js";
import { state } from "../api.js";

/** @typedef {{query: string, budget: number, limit: number, now: number | null, answer: any, memories: Map<number, any>, factors: Map<string, number>}} Run */

/** @param {import("../app.js").View} view */
export function render(view) {
  /** @type {Run | null} */
  let pinned = null;
  /** @type {Run | null} */
  let latest = null;
  /** @type {number | null} */
  let now = null;
  const query = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "lab-query", value: view.params.get("q") ?? "", placeholder: t("lab.placeholder"), "data-search": true, dir: "auto", oninput: () => { now = null; } }));
  const budget = /** @type {HTMLInputElement} */ (h("input", { type: "number", id: "lab-budget", min: 1, max: 100000, step: 1, value: 1000 }));
  const limit = /** @type {HTMLInputElement} */ (h("input", { type: "number", id: "lab-limit", min: 1, max: 50, value: 10 }));
  const results = h("div", { class: "lab-results" });
  const past = h("div");
  const run = (/** @type {Event | undefined} */ event) => {
    event?.preventDefault();
    return guarded(async () => {
      latest = await runRecall(query.value.trim(), Number(budget.value) || 1000, Number(limit.value) || 10, now);
      draw();
    });
  };
  const draw = () => {
    if (!latest) return;
    const current = latest;
    fill(results,
      h("div", { class: "actions" }, pinned
        ? h("button", { type: "button", class: "button", onclick: () => { pinned = null; draw(); } }, t("lab.unpin"))
        : h("button", { type: "button", class: "button", onclick: () => { pinned = current; draw(); } }, t("lab.pin"))),
      pinned && pinned !== current ? h("div", { class: "compare" }, runPanel(pinned, current, t("lab.run_a")), runPanel(current, pinned, t("lab.run_b"))) : runPanel(current, null, ""));
  };
  const ask = (/** @type {string} */ text, /** @type {number} */ ts) => { query.value = text; now = ts; query.scrollIntoView({ block: "center" }); run(undefined); };
  fill(view.element,
    h("form", { class: "lab-form card", onsubmit: run },
      h("label", { for: "lab-query" }, t("lab.query")), query,
      h("div", { class: "lab-options" }, h("label", { for: "lab-budget" }, t("lab.budget"), budget), h("label", { for: "lab-limit" }, t("lab.limit"), limit), h("button", { class: "button primary", type: "submit" }, t("lab.run")))),
    results, past);
  fill(results, emptyState(t("lab.empty"), t("lab.empty_hint")));
  query.focus();
  return Promise.all([showPastReplies(past, ask), query.value ? run(undefined) : null]);
}

/**
 * @param {string} query
 * @param {number} budget
 * @param {number} limit
 * @param {number | null} now
 * @returns {Promise<Run>}
 */
async function runRecall(query, budget, limit, now) {
  const body = { ...here(), query, limit, budget_tokens: budget, explain: true, ...(now ? { now } : {}) };
  const answer = await post("/memory/recall", body);
  const memories = new Map(answer.PERSONA_MEMORY.map((/** @type {any} */ one) => [one.id, one]));
  // Messages have ids of their own: below zero they cannot be taken for memories.
  answer.CHAT_SNIPPETS.forEach((/** @type {any} */ one) => memories.set(-one.id, { content: one.content, type: "message" }));
  answer.explain = (answer.explain ?? []).map((/** @type {any} */ one) => (one.memory_id === null ? { ...one, memory_id: -one.message_id } : one));
  const missing = answer.explain.map((/** @type {any} */ one) => one.memory_id).filter((/** @type {number} */ id) => id > 0 && !memories.has(id)).slice(0, 20);
  const found = await Promise.all(missing.map((/** @type {number} */ id) => get("/memory/get", { ...here(), memory_id: id }).catch(() => null)));
  found.filter(Boolean).forEach((one) => memories.set(one.id, one));
  return { query, budget, limit, now, answer, memories, factors: new Map() };
}

/**
 * @param {Run} run
 * @param {Run | null} other
 * @param {string} title
 */
function runPanel(run, other, title) {
  const { answer } = run;
  const inPrompt = answer.explain.filter((/** @type {any} */ one) => !one.left_out);
  const leftOut = answer.explain.filter((/** @type {any} */ one) => one.left_out);
  const known = other ? new Set(other.answer.explain.filter((/** @type {any} */ one) => !one.left_out).map((/** @type {any} */ one) => one.memory_id)) : null;
  const top = Math.max(0.0001, ...answer.explain.map((/** @type {any} */ one) => one.score));
  return h("section", { class: "run" },
    title ? h("h2", null, title, h("small", null, t("lab.run_options", { budget: number(run.budget), limit: run.limit }))) : null,
    h("p", { class: "hint" }, t("lab.summary", { n: inPrompt.length, tokens: number(answer.tokens), intent: tOr(`intent.${answer.intent.type}`, answer.intent.type) }),
      answer.truncated ? ` ${t("lab.truncated")}` : "", answer.degraded.length ? ` ${t("lab.degraded", { parts: answer.degraded.join(", ") })}` : ""),
    weightSliders(run),
    h("h3", null, t("lab.recalled")),
    inPrompt.length ? h("ol", { class: "hits" }, inPrompt.map((/** @type {any} */ one) => hit(one, run, top, known))) : h("p", { class: "hint" }, t("lab.nothing")),
    leftOut.length ? [h("h3", null, t("lab.left_out")), h("ol", { class: "hits dim" }, leftOut.map((/** @type {any} */ one) => hit(one, run, top, known)))] : null,
    block(t("lab.stable"), answer.stable_block.text, answer.stable_block.tokens),
    block(t("lab.turn"), answer.turn_block.text, answer.turn_block.tokens));
}

/**
 * Sliders that weigh the parts of the scores anew, and the order that would follow.
 * @param {Run} run
 */
function weightSliders(run) {
  const names = [...new Set(run.answer.explain.flatMap((/** @type {any} */ one) => Object.keys(one.parts)))].filter((name) => run.answer.explain.some((/** @type {any} */ one) => Math.abs(one.parts[name] ?? 0) > 0.0005));
  if (!names.length) return null;
  const list = h("ol", { class: "reordered" });
  const weighed = (/** @type {any} */ one) => Object.entries(one.parts).reduce((sum, [name, value]) => sum + Number(value) * (run.factors.get(name) ?? 1), 0);
  const draw = () => {
    const before = run.answer.explain.filter((/** @type {any} */ one) => Object.keys(one.parts).length);
    const after = before.slice().sort((/** @type {any} */ a, /** @type {any} */ b) => weighed(b) - weighed(a)).slice(0, run.limit);
    fill(list, after.map((/** @type {any} */ one, /** @type {number} */ place) => {
      const moved = before.indexOf(one) - place;
      return h("li", null, h("span", { class: moved > 0 ? "moved up" : moved < 0 ? "moved down" : "moved" }, moved > 0 ? `↑${moved}` : moved < 0 ? `↓${-moved}` : "·"), h("span", { class: "clamp", dir: "auto" }, run.memories.get(one.memory_id)?.content ?? `#${one.memory_id}`), h("span", { class: "value" }, number(weighed(one))));
    }));
  };
  const sliders = names.map((name) => {
    const shown = h("output", null, "×1");
    return h("label", null, h("span", null, tOr(`part.${name}`, name)), h("input", { type: "range", min: 0, max: 3, step: 0.1, value: run.factors.get(name) ?? 1, oninput: (/** @type {any} */ event) => { run.factors.set(name, Number(event.target.value)); fill(shown, `×${number(Number(event.target.value))}`); draw(); } }), shown);
  });
  draw();
  return h("details", { class: "weights" }, h("summary", null, t("lab.weights")), h("p", { class: "hint" }, t("lab.weights_hint")), h("div", { class: "sliders" }, sliders), list);
}

/**
 * @param {any} item
 * @param {Run} run
 * @param {number} top
 * @param {Set<number> | null} known
 */
function hit(item, run, top, known) {
  const memory = run.memories.get(item.memory_id);
  const parts = Object.entries(item.parts).filter(([, value]) => Math.abs(Number(value)) > 0.0005).sort((a, b) => Number(b[1]) - Number(a[1]));
  const isNew = known && !known.has(item.memory_id) && !item.left_out;
  return h("li", { class: isNew ? "hit differs" : "hit" },
    h("p", { class: "content" }, item.memory_id > 0
      ? h("button", { type: "button", class: "link", dir: "auto", onclick: () => openMemory(item.memory_id, memory?.persona_id ?? state.persona, () => {}) }, memory?.content ?? `#${item.memory_id}`)
      : h("span", { dir: "auto" }, memory?.content ?? "…")),
    h("p", { class: "meta" }, memory ? typeChip(memory.type) : null, h("b", { class: "score" }, number(item.score)),
      item.found_by.map((/** @type {string} */ one) => h("span", { class: "chip" }, tOr(`found_by.${one}`, one))),
      item.left_out ? h("span", { class: "why" }, leftOutText(item.left_out)) : null, isNew ? h("span", { class: "chip accent" }, t("lab.differs")) : null),
    parts.length ? h("div", { class: "bars" }, parts.map(([name, value]) => h("div", { class: "bar" }, h("span", null, tOr(`part.${name}`, name)), h("span", { class: "track" }, h("i", { class: Number(value) < 0 ? "negative" : "", width_pct: Math.min(100, (100 * Math.abs(Number(value))) / top) })), h("span", { class: "value" }, number(Number(value)))))) : null);
}

/** @param {string} reason */
function leftOutText(reason) {
  const twin = reason.match(/memory (\d+)$/)?.[1];
  const kind = reason.startsWith("not in the prompt: the token") ? "budget" : reason.startsWith("below the limit:") ? "core_places" : reason.startsWith("below the limit") ? "limit" : reason.includes("a page says") ? "page" : twin ? "same" : "";
  return kind ? t(`left_out.${kind}`, { id: twin ?? "" }) : reason;
}

/**
 * @param {string} title
 * @param {string} text
 * @param {number} tokens
 */
function block(title, text, tokens) {
  return h("details", { class: "block-box", open: true }, h("summary", null, title, h("small", null, t("lab.tokens", { n: number(tokens) }))), text ? h("pre", { class: "block", dir: "auto", tabindex: "0" }, text) : h("p", { class: "hint" }, t("lab.no_block")));
}

/**
 * List past replies: for each, what was known when it was written.
 * @param {HTMLElement} place
 * @param {(text: string, ts: number) => void} ask
 */
async function showPastReplies(place, ask) {
  const found = await guarded(() => get("/messages/recent", { ...here(), limit: 40 }));
  const items = (found?.messages ?? []).slice().sort((/** @type {any} */ a, /** @type {any} */ b) => a.ts - b.ts);
  const pairs = items.flatMap((/** @type {any} */ one, /** @type {number} */ at) => (one.role === "assistant" && items[at - 1]?.role === "user" ? [[items[at - 1], one]] : [])).slice(-8).reverse();
  if (!pairs.length) return;
  fill(place, h("h2", null, t("lab.past")), h("p", { class: "hint" }, t("lab.past_hint")),
    h("ul", { class: "plain-list past" }, pairs.map((/** @type {any[]} */ [said, reply]) => h("li", null, h("div", null, h("p", { class: "clamp", dir: "auto" }, said.content), h("p", { class: "clamp reply-text", dir: "auto" }, reply.content), h("small", null, clock(reply.ts))),
      h("button", { type: "button", class: "button", onclick: () => ask(said.content, reply.ts) }, t("lab.why"))))));
}
