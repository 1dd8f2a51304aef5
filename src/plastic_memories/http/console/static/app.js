// The shell: sign in, navigation, the person and persona that are looked at, keyboard.

import * as api from "./api.js";
import { fill, h, icon, qrCode } from "./dom.js";
import { applyLanguage, currentLanguage, setLanguage, t } from "./i18n.js";
import * as live from "./live.js";
import { dialog, emptyState, flushDeferred, guarded, iconButton, showError, skeleton, toast } from "./parts/feedback.js";
import { choosePerson } from "./views/people.js";
import { renderSignIn } from "./views/sign_in.js";

/** @typedef {{element: HTMLElement, params: URLSearchParams, onLeave: (stop: () => void) => void, reload: () => void, shell: Shell}} View */
/** @typedef {{refreshPersonas: () => Promise<void>, refreshInbox: () => Promise<void>}} Shell */

/** @type {Record<string, {load: () => Promise<{render: (view: View) => any}>, key: string, needs?: string}>} */
const VIEWS = {
  say: { load: () => import("./views/say.js"), key: "s" },
  memories: { load: () => import("./views/memories.js"), key: "m" },
  inbox: { load: () => import("./views/inbox.js"), key: "i" },
  about: { load: () => import("./views/about.js"), key: "a" },
  lab: { load: () => import("./views/lab.js"), key: "r" },
  timeline: { load: () => import("./views/timeline.js"), key: "t" },
  persona: { load: () => import("./views/persona.js"), key: "p" },
  activity: { load: () => import("./views/activity.js"), key: "v" },
  connect: { load: () => import("./views/connect.js"), key: "c" },
  transfer: { load: () => import("./views/transfer.js"), key: "x" },
  operations: { load: () => import("./views/operations.js"), key: "o", needs: "admin" },
};
const ON_PHONE = ["say", "memories", "inbox", "about"];
const THEME = "pm.theme";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const page = h("main", { id: "main", tabindex: "-1" });
const inboxCount = h("span", { class: "count", hidden: true });
/** @type {(() => void)[]} */
let leaving = [];
let shown = 0;

/** @type {Shell} */
const shell = { refreshPersonas, refreshInbox };

function visibleViews() {
  return Object.keys(VIEWS).filter((name) => !VIEWS[name].needs || api.state.me?.is_admin);
}

function currentRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const name = visibleViews().includes(path) ? path : "say";
  return { name, params: new URLSearchParams(query ?? "") };
}

/** @param {boolean} [moved] */
async function showView(moved = false) {
  if (!api.state.me || !root.contains(page)) return;
  leaving.forEach((stop) => stop());
  leaving = [];
  const turn = (shown += 1);
  const { name, params } = currentRoute();
  const wanted = params.get("persona");
  if (wanted && wanted !== api.state.persona && !api.state.me.persona_id) {
    api.choosePersona(wanted);
    fill(personaPlace, personaSelect());
    guarded(refreshInbox);
  }
  page.setAttribute("aria-busy", "true");
  document.querySelectorAll("[data-view]").forEach((link) => {
    if (/** @type {HTMLElement} */ (link).dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  document.title = `${t(`nav.${name}`)} · Plastic Memories`;
  const body = h("div", { class: "view-body" }, skeleton(4));
  fill(page, h("header", { class: "view-head" }, h("h1", { tabindex: "-1" }, t(`nav.${name}`)), h("p", null, t(`lead.${name}`))), body);
  closeMenu();
  await guarded(async () => {
    const module = await VIEWS[name].load();
    if (turn !== shown) return;
    fill(body);
    await module.render({ element: body, params, onLeave: (stop) => leaving.push(stop), reload: () => showView(), shell });
  });
  if (turn !== shown) return;
  page.removeAttribute("aria-busy");
  // Who reads by ear hears where they are; a view that has a field to write in keeps the focus there.
  if (moved && !page.contains(document.activeElement)) page.querySelector("h1")?.focus({ preventScroll: true });
}

async function refreshInbox() {
  const found = await api.get("/memory/list", { ...api.here(), status: "candidate", limit: 100 });
  const n = found.items.length;
  inboxCount.hidden = n === 0;
  fill(inboxCount, n > 99 ? "99+" : String(n));
  inboxCount.setAttribute("aria-label", t("inbox.waiting", { n }));
}

async function refreshPersonas() {
  await api.loadPersonas();
  fill(personaPlace, personaSelect());
}

const personaPlace = h("div", { class: "persona-place" });

function personaSelect() {
  const known = api.state.personas;
  const ids = new Set([...known.map((one) => one.persona_id), api.state.persona]);
  const select = h("select", { "aria-label": t("shell.persona"), onchange: (/** @type {any} */ event) => { api.choosePersona(event.target.value); showView(); guarded(refreshInbox); } },
    [...ids].map((id) => h("option", { value: id, selected: id === api.state.persona }, api.personaName(id))));
  return h("label", { class: "picker" }, h("span", null, t("shell.persona")), select);
}

/** @param {string} name */
function navLink(name) {
  return h("a", { href: `#/${name}`, "data-view": name }, icon(name), h("span", null, t(`nav.${name}`)), name === "inbox" ? inboxCount : null);
}

function connectionPill() {
  const pill = h("p", { class: "connection", role: "status" });
  live.watchStatus((status) => {
    pill.dataset.status = status;
    fill(pill, h("i"), t(`live.${status}`));
  });
  return pill;
}

function signedInAs() {
  const me = api.state.me;
  if (!me?.is_app_key) return h("p", { class: "who" }, api.state.user || me?.user_id || "");
  return h("button", { type: "button", class: "who", onclick: pickPerson, title: t("people.change") }, api.state.user, icon("down"));
}

async function pickPerson() {
  const chosen = await choosePerson(root);
  if (!chosen) return;
  api.chooseUser(chosen);
  await start();
}

function renderShell() {
  const sidebar = h("nav", { class: "sidebar", "aria-label": t("shell.navigation") },
    h("a", { class: "brand", href: "#/say" }, h("span", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i")), "Plastic Memories"),
    h("div", { class: "pickers" }, signedInAs(), personaPlace),
    h("div", { class: "links" }, visibleViews().map(navLink)),
    h("div", { class: "foot" }, connectionPill(), h("div", { class: "foot-buttons" },
      iconButton("phone", t("shell.phone"), showPhoneLink),
      h("button", { type: "button", class: "text-button", onclick: switchLanguage, lang: currentLanguage() === "zh" ? "en" : "zh-CN" }, currentLanguage() === "zh" ? "English" : "中文"),
      h("button", { type: "button", class: "text-button", onclick: switchTheme }, t("shell.theme")),
      iconButton("out", t("shell.sign_out"), signOut))));
  const tabs = h("nav", { class: "tabs", "aria-label": t("shell.tabs") }, ON_PHONE.map((name) => h("a", { href: `#/${name}`, "data-view": name }, icon(name), h("span", null, t(`nav.${name}`)))),
    h("button", { type: "button", "aria-expanded": "false", onclick: toggleMenu }, icon("more"), h("span", null, t("shell.more"))));
  root.removeAttribute("aria-busy");
  root.className = "shell";
  fill(root, h("div", { class: "backdrop", onclick: closeMenu }), h("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => { event.preventDefault(); page.focus(); } }, t("shell.skip")), sidebar, page, tabs);
}

function closeMenu() {
  root.classList.remove("menu-open");
  root.querySelector(".tabs button")?.setAttribute("aria-expanded", "false");
}

function toggleMenu() {
  const isOpen = root.classList.toggle("menu-open");
  root.querySelector(".tabs button")?.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) /** @type {HTMLElement | null} */ (root.querySelector(".sidebar select, .sidebar a"))?.focus();
}

function switchLanguage() {
  setLanguage(currentLanguage() === "zh" ? "en" : "zh");
  start();
}

/** @param {string | null} theme */
function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function switchTheme() {
  const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = dark === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, next);
  applyTheme(next);
}

async function signOut() {
  const answer = await dialog(t("shell.sign_out"), h("p", null, t("sign_out.explain")), [
    { value: "everywhere", text: t("sign_out.everywhere") },
    { value: "here", text: t("sign_out.here"), kind: "primary" },
  ]);
  if (!answer) return;
  flushDeferred();
  await guarded(() => api.post("/console/session/end", { everywhere: answer === "everywhere" }));
  showSignIn();
}

async function showPhoneLink() {
  const made = await guarded(() => api.post("/console/link"));
  if (!made) return;
  const isLocal = /^(localhost|127\.|\[::1\])/.test(location.host);
  await dialog(t("shell.phone"), [
    isLocal ? h("p", { class: "notice" }, t("phone.local")) : null,
    h("div", { class: "qr-place" }, qrCode(made.qr, t("phone.qr"))),
    h("p", { class: "hint" }, t("phone.once", { n: Math.round(made.expires_in_s / 60) })),
    h("pre", null, h("code", null, made.url)),
  ], []);
}

function showSignIn() {
  live.disconnect();
  api.state.me = null;
  leaving.forEach((stop) => stop());
  leaving = [];
  root.className = "signed-out";
  root.removeAttribute("aria-busy");
  renderSignIn(root, async (me) => {
    api.state.me = me;
    await start();
  });
}

function showOffline() {
  root.className = "signed-out";
  root.removeAttribute("aria-busy");
  fill(root, h("main", { class: "gate" }, emptyState(t("offline.title"), t("error.offline"), h("button", { type: "button", class: "button primary", onclick: boot }, t("offline.retry")))));
}

async function start() {
  const me = api.state.me;
  if (!me) return showSignIn();
  if (!me.is_app_key) api.state.user = me.user_id ?? "";
  else if (!api.state.user) {
    const stored = currentRoute().params.get("user") ?? sessionStorage.getItem("pm.user");
    if (stored) api.chooseUser(stored);
    else return pickPerson();
  }
  await guarded(api.loadPersonas);
  renderShell();
  fill(personaPlace, personaSelect());
  live.connect();
  guarded(refreshInbox);
  await showView();
}

const typing = (/** @type {EventTarget | null} */ target) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
let going = false;

addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenu();
  if (!api.state.me || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
  if (going) {
    going = false;
    const name = visibleViews().find((one) => VIEWS[one].key === event.key);
    if (name) location.hash = `#/${name}`;
  } else if (event.key === "g") going = true;
  else if (event.key === "?") showShortcuts();
  else if (event.key === "/") {
    event.preventDefault();
    const field = /** @type {HTMLElement | null} */ (document.querySelector("main [data-search]"));
    if (field) field.focus();
    else location.hash = "#/memories";
  }
});

async function showShortcuts() {
  /** @type {[string, string][]} */
  const rows = [["/", t("keys.search")], ...visibleViews().map((name) => /** @type {[string, string]} */ ([`g ${VIEWS[name].key}`, t(`nav.${name}`)])), ["j  k", t("keys.move")], ["c  e  x  n", t("keys.inbox")], ["Enter", t("keys.open")], ["?", t("keys.help")]];
  await dialog(t("keys.title"), h("dl", { class: "shortcuts" }, rows.map(([keys, text]) => h("div", null, h("dt", null, keys.split(/\s+/).map((key) => h("kbd", null, key))), h("dd", null, text)))), []);
}

live.listenCalmly((event) => event.event.startsWith("memory.") || event.event.startsWith("persona.") || event.event === "import", () => {
  if (api.state.me) refreshInbox().catch(() => {});
});

addEventListener("hashchange", () => (location.hash.startsWith("#link=") ? boot() : showView(true)));
api.whenSignedOut(() => {
  if (!api.state.me) return;
  toast(t("error.unauthorized"), { bad: true });
  showSignIn();
});

async function boot() {
  applyLanguage();
  applyTheme(localStorage.getItem(THEME));
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  // The link works once: it is neither kept in the history nor shown.
  if (link) history.replaceState(null, "", `${location.pathname}#/say`);
  try {
    api.state.me = link ? await api.post("/console/session", { link }) : await api.get("/console/session");
  } catch (error) {
    if (error instanceof api.ApiError && error.code === "offline") return showOffline();
    if (link) showError(error);
    return showSignIn();
  }
  await start();
}

boot();
