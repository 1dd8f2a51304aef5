// Changes as they happen, over /ws/events. A lost connection shows, and heals by itself.

import { state } from "./api.js";

/** @typedef {{id: number, event: string, ts: number, persona_id: string, data: Record<string, any>}} LiveEvent */

/** @type {Set<(event: LiveEvent) => void>} */
const listeners = new Set();
/** @type {Set<(status: string) => void>} */
const watchers = new Set();
/** @type {WebSocket | null} */
let socket = null;
let lastId = 0;
let retries = 0;
let status = "closed";
let wanted = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string} next */
function setStatus(next) {
  status = next;
  watchers.forEach((watch) => watch(next));
}

export function connect() {
  disconnect();
  wanted = true;
  lastId = 0;
  open();
}

export function disconnect() {
  wanted = false;
  clearTimeout(timer);
  socket?.close();
  socket = null;
}

function open() {
  const params = new URLSearchParams();
  if (state.me?.is_app_key) params.set("user_id", state.user);
  if (lastId) params.set("resume_from", String(lastId));
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const mine = new WebSocket(`${scheme}://${location.host}/ws/events?${params}`);
  socket = mine;
  setStatus(retries ? "reconnecting" : "connecting");
  mine.onopen = () => {
    retries = 0;
    setStatus("open");
  };
  mine.onmessage = (frame) => {
    const event = /** @type {LiveEvent} */ (JSON.parse(frame.data));
    lastId = event.id;
    listeners.forEach((listen) => listen(event));
  };
  mine.onclose = () => {
    if (mine === socket) retry();
  };
}

function retry() {
  if (!wanted) return;
  retries += 1;
  setStatus("reconnecting");
  timer = setTimeout(open, Math.min(10_000, 400 * 2 ** Math.min(retries, 5)));
}

addEventListener("online", () => {
  if (wanted && status !== "open") {
    clearTimeout(timer);
    open();
  }
});

/**
 * Call back for each change; return how to stop.
 * @param {(event: LiveEvent) => void} listener
 */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Call back a moment after the last of several changes.
 * @param {(event: LiveEvent) => boolean} wants
 * @param {() => void} refresh
 */
export function listenCalmly(wants, refresh) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const stop = listen((event) => {
    if (!wants(event)) return;
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 250);
  });
  return () => {
    clearTimeout(waiting);
    stop();
  };
}

/** @param {(status: string) => void} watcher */
export function watchStatus(watcher) {
  watchers.add(watcher);
  watcher(status);
  return () => watchers.delete(watcher);
}
