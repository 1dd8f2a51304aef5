// Read chats that other programs have saved: SillyTavern's (.jsonl) and ChatGPT's (conversations.json).

/** @typedef {{role: string, content: string, ts?: number, speaker?: string}} ChatMessage */
/** @typedef {{title: string, messages: ChatMessage[]}} Chat */

const LONGEST = 30_000;

/**
 * Return the chats in a file; empty if it holds none.
 * @param {string} name
 * @param {string} text
 * @returns {Chat[]}
 */
export function readChats(name, text) {
  const whole = parse(text);
  if (Array.isArray(whole)) return whole.filter((one) => one?.mapping).map(chatGptChat).filter((one) => one.messages.length);
  if (whole?.mapping) return [chatGptChat(whole)];
  const lines = text.split("\n").map(parse);
  const messages = lines.filter((one) => typeof one?.mes === "string" && !one.is_system).map(tavernMessage);
  return messages.length ? [{ title: name.replace(/\.\w+$/, ""), messages }] : [];
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * @param {any} line
 * @returns {ChatMessage}
 */
function tavernMessage(line) {
  return { role: line.is_user ? "user" : "assistant", content: line.mes.slice(0, LONGEST), ...time(line.send_date), speaker: String(line.name ?? "").slice(0, 200) };
}

/**
 * @param {any} value
 * @returns {{ts?: number}}
 */
function time(value) {
  const ms = typeof value === "number" ? (value > 1e11 ? value : value * 1000) : Date.parse(String(value).replace(/(\d)(am|pm)$/i, "$1 $2"));
  return Number.isFinite(ms) && ms > 0 ? { ts: ms / 1000 } : {};
}

/**
 * @param {any} saved
 * @returns {Chat}
 */
function chatGptChat(saved) {
  // The path that ends in the current message: other branches were swiped away.
  const path = [];
  for (let node = saved.mapping[saved.current_node]; node; node = saved.mapping[node.parent]) path.push(node);
  const nodes = path.length ? path.reverse() : Object.values(saved.mapping);
  const messages = nodes.map((node) => node.message).filter((one) => ["user", "assistant"].includes(one?.author?.role)).map((one) => ({
    role: one.author.role,
    content: (one.content?.parts ?? []).filter((/** @type {any} */ part) => typeof part === "string").join("\n").slice(0, LONGEST),
    ...time(one.create_time),
  })).filter((one) => one.content.trim());
  return { title: String(saved.title ?? ""), messages };
}
