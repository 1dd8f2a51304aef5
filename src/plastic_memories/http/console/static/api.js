// Calls to the hub, with the cookie of the session; and who is signed in.

import { t, tOr } from "./i18n.js";

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {any} [detail]
   */
  constructor(status, code, message, detail) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** @typedef {{user_id: string | null, is_app_key: boolean, is_admin: boolean, read_only: boolean, persona_id: string | null, source_app: string | null, version: string, has_upstream: boolean, address: string}} Me */

/** What every view reads: who is signed in, for whom they look, and as which persona. */
export const state = {
  /** @type {Me | null} */ me: null,
  /** @type {string} */ user: "",
  /** @type {string} */ persona: "default",
  /** @type {{persona_id: string, display_name: string, description: string}[]} */ personas: [],
};

/** @type {() => void} */
let onSignedOut = () => {};
/** @param {() => void} listener */
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

/** @returns {Record<string, string>} */
function headers() {
  /** @type {Record<string, string>} */
  const sent = { "X-Console": "1" };
  // A header is bytes: the name is sent as UTF-8.
  if (state.me?.is_app_key && state.user) {
    sent["X-User-Id"] = String.fromCharCode(...new TextEncoder().encode(state.user));
  }
  return sent;
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...headers(), ...options.headers }, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", t("error.offline"));
  }
  if (response.ok) return response;
  throw await readError(response, path);
}

/**
 * @param {Response} response
 * @param {string} path
 */
async function readError(response, path) {
  const body = await response.json().catch(() => ({}));
  const error = body.error ?? {};
  const code = error.code ?? "internal_error";
  if (response.status === 401 && !path.startsWith("/console/session")) onSignedOut();
  return new ApiError(response.status, code, tOr(`error.${code}`, error.message ?? response.statusText), error.detail);
}

/**
 * @param {string} path
 * @param {Record<string, any>} [params]
 * @param {AbortSignal} [signal]
 */
export async function get(path, params = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  const response = await request(text ? `${path}?${text}` : path, { signal });
  return (await response.json()).data;
}

/**
 * @param {string} path
 * @param {Record<string, any>} [body]
 * @param {{keepalive?: boolean}} [options]
 */
export async function post(path, body = {}, options = {}) {
  const response = await request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    keepalive: options.keepalive,
  });
  return (await response.json()).data;
}

/** Of the persona that is looked at, with the rows of all its bots. */
export const here = () => ({ persona_id: state.persona, bots: "all" });

/**
 * Fetch a file and hand it to the user as a download.
 * @param {string} path
 * @param {string} name
 */
export async function download(path, name) {
  const response = await request(path);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export async function loadPersonas() {
  const found = await get("/persona/list");
  state.personas = found.items;
  const ids = state.personas.map((one) => one.persona_id);
  const bound = state.me?.persona_id;
  const stored = localStorage.getItem(personaKey());
  if (bound) state.persona = bound;
  else if (stored && (ids.includes(stored) || stored === "default")) state.persona = stored;
  else if (!ids.includes(state.persona)) state.persona = ids[0] ?? "default";
}

const personaKey = () => `pm.persona.${state.user}`;

/** @param {string} persona */
export function choosePersona(persona) {
  state.persona = persona;
  localStorage.setItem(personaKey(), persona);
}

/** @param {string} user */
export function chooseUser(user) {
  state.user = user;
  state.persona = "default";
  sessionStorage.setItem("pm.user", user);
}

/**
 * Return the name of a persona for people.
 * @param {string} persona
 */
export function personaName(persona) {
  const shown = state.personas.find((one) => one.persona_id === persona)?.display_name || persona;
  return shown === "default" ? t("persona.default") : shown;
}
