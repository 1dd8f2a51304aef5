// Connect: for every client a key made in place, what to paste where, and when its first call came.

import { get, post, state } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { ago, dateTime, t } from "../i18n.js";
import { dialog, guarded, iconButton, toast } from "../parts/feedback.js";

/** @typedef {{name: string, label: string, forAll?: boolean, noKey?: boolean, snippet: (url: string, key: string) => string}} Client */

const POLL_MS = 2000;

/** @type {Client[]} */
const CLIENTS = [
  { name: "sillytavern", label: "SillyTavern", snippet: (url, key) => `cp -r integrations/sillytavern /path/to/SillyTavern/data/default-user/extensions/PlasticMemories\n\n# ${t("connect.sillytavern_where")}\n${url}\n${key}` },
  { name: "astrbot", label: "AstrBot", forAll: true, snippet: (url, key) => `cp -r integrations/astrbot data/plugins/astrbot_plugin_plastic_memories\n\n# ${t("connect.astrbot_where")}\n${url}\n${key}` },
  { name: "openai", label: "OpenAI", snippet: (url, key) => `OPENAI_BASE_URL=${url}/v1\nOPENAI_API_KEY=${key}\n\ncurl ${url}/v1/chat/completions \\\n  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\\n  -d '{"model": "…", "messages": [{"role": "user", "content": "${t("say.example1")}"}]}'` },
  { name: "mem0", label: "mem0", snippet: (url, key) => `from mem0 import MemoryClient\n\nclient = MemoryClient(api_key="${key}", host="${url}")\nclient.add("${t("say.example1")}")\nclient.search("${t("lab.example")}")` },
  { name: "mcp", label: "MCP", snippet: (url, key) => `claude mcp add --transport http plastic-memories ${url}/mcp --header "X-API-Key: ${key}"\n\n${JSON.stringify({ mcpServers: { "plastic-memories": { url: `${url}/mcp`, headers: { "X-API-Key": key } } } }, null, 2)}` },
  { name: "python", label: "Python", snippet: (url, key) => `from plastic_memories_client import PlasticMemoriesClient\n\nclient = PlasticMemoriesClient("${url}", persona_id="${state.persona}", api_key="${key}")\nprint(client.recall("${t("lab.example")}").injection_block)` },
  { name: "http", label: "HTTP", snippet: (url, key) => `curl ${url}/memory/recall -H "X-API-Key: ${key}" -H "Content-Type: application/json" \\\n  -d '{"persona_id": "${state.persona}", "query": "${t("lab.example")}"}'` },
  { name: "markdown", label: "Markdown · Obsidian", noKey: true, snippet: () => `plastic-memories markdown sync\nplastic-memories markdown list` },
];

/** @param {import("../app.js").View} view */
export function render(view) {
  const keys = h("section");
  const refresh = () => guarded(() => showKeys(keys));
  fill(view.element, h("div", { class: "clients" }, CLIENTS.map((client) => clientCard(client, view, refresh))), keys);
  return refresh();
}

/**
 * @param {Client} client
 * @param {import("../app.js").View} view
 * @param {() => void} refresh
 */
function clientCard(client, view, refresh) {
  const place = h("div", { class: "client-body" });
  const button = client.noKey
    ? h("button", { type: "button", class: "button", onclick: () => showSnippet(place, client.snippet("", "")) }, t("connect.show"))
    : h("button", { type: "button", class: "button primary", onclick: () => guarded(async () => {
      const forAll = Boolean(client.forAll && (state.me?.is_app_key || state.me?.is_admin));
      const made = await post("/console/keys/create", { label: client.label, for_all_users: forAll, read_only: Boolean(state.me?.read_only) });
      showSnippet(place, client.snippet(location.origin, made.key), made.key);
      button.remove();
      const status = h("p", { class: "first-call", role: "status" }, h("i"), t("connect.waiting"));
      place.append(status);
      watchFirstCall(made.id, status, view, refresh);
      refresh();
    }) }, t("connect.create"));
  return h("article", { class: "card client" }, h("h2", null, client.label), h("p", null, t(`connect.${client.name}`)), button, place);
}

/**
 * @param {HTMLElement} place
 * @param {string} text
 * @param {string} [key]
 */
function showSnippet(place, text, key) {
  fill(place, key ? h("p", { class: "hint" }, t("connect.once")) : null, key ? copyBox(key) : null, copyBox(text));
}

/** @param {string} text */
export function copyBox(text) {
  const copy = () => guarded(async () => { await copyText(text); toast(t("connect.copied"), { ms: 2000 }); });
  return h("div", { class: "copy-box" }, h("pre", { tabindex: "0" }, h("code", null, text)), iconButton("copy", t("action.copy"), copy));
}

/** @param {string} text */
async function copyText(text) {
  // In a network without HTTPS browsers have no clipboard interface.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { value: text, class: "visually-hidden" }));
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/**
 * @param {number} keyId
 * @param {HTMLElement} status
 * @param {import("../app.js").View} view
 * @param {() => void} refresh
 */
function watchFirstCall(keyId, status, view, refresh) {
  const timer = setInterval(async () => {
    const found = await get("/console/keys").catch(() => null);
    const key = found?.items.find((/** @type {any} */ one) => one.id === keyId);
    if (!key?.last_used_at) return;
    clearInterval(timer);
    status.classList.add("arrived");
    fill(status, icon("check"), t("connect.arrived"));
    refresh();
  }, POLL_MS);
  view.onLeave(() => clearInterval(timer));
}

/** @param {HTMLElement} place */
async function showKeys(place) {
  const found = await get("/console/keys");
  if (!found.items.length) return fill(place);
  fill(place, h("h2", null, t("connect.keys")), h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": t("connect.keys") }, keyTable(found.items, () => showKeys(place))));
}

/**
 * @param {any[]} keys
 * @param {() => void} refresh
 */
export function keyTable(keys, refresh) {
  const revoke = (/** @type {any} */ key) => guarded(async () => {
    const answer = await dialog(t("keys.revoke"), h("p", null, t("keys.revoke_explain", { label: key.label || `#${key.id}` })), [{ value: "", text: t("action.cancel") }, { value: "yes", text: t("keys.revoke"), kind: "danger" }]);
    if (answer !== "yes") return;
    await post("/console/keys/revoke", { key_id: key.id }); toast(t("connect.revoked"));
    refresh();
  });
  return h("table", null,
    h("thead", null, h("tr", null, ["keys.label", "keys.user", "keys.limits", "keys.created", "keys.used", "keys.action"].map((name) => h("th", { scope: "col" }, t(name))))),
    h("tbody", null, keys.map((key) => h("tr", null,
      h("td", { dir: "auto" }, key.label || `#${key.id}`), h("td", { dir: "auto" }, key.user_id === "*" ? t("keys.everybody") : key.user_id),
      h("td", null, [key.read_only ? t("keys.read_only") : "", key.persona_id ?? "", key.source_app ?? ""].filter(Boolean).join(", ") || "—"),
      h("td", null, dateTime(key.created_at)), h("td", null, key.last_used_at ? ago(key.last_used_at) : t("time.never")),
      h("td", null, state.me?.read_only ? null : h("button", { type: "button", class: "text-button", onclick: () => revoke(key) }, t("keys.revoke")))))));
}
