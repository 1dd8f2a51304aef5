// Toasts with undo, dialogs, empty states, skeletons.

import { ApiError } from "../api.js";
import { append, fill, h, icon } from "../dom.js";
import { t } from "../i18n.js";

const TOAST_MS = 6000;

/**
 * Show a short note; with `undo`, a button that takes the change back.
 * @param {string} text
 * @param {{undo?: () => void, bad?: boolean, ms?: number}} [options]
 */
export function toast(text, options = {}) {
  const note = h("div", { class: options.bad ? "toast bad" : "toast" }, h("span", null, text));
  const close = () => note.remove();
  if (options.undo) {
    const undo = options.undo;
    append(note, h("button", { class: "link", type: "button", onclick: () => { close(); undo(); } }, icon("undo"), t("action.undo")));
  }
  document.getElementById("toasts")?.append(note);
  setTimeout(close, options.ms ?? TOAST_MS);
  return close;
}

/** @param {unknown} error */
export function showError(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  toast(error instanceof ApiError ? error.message : t("error.internal_error"), { bad: true });
  if (!(error instanceof ApiError)) console.error(error);
}

/**
 * Run work, and show what went wrong.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function guarded(work) {
  try {
    return await work();
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/** @type {Map<number, () => void>} */
const pending = new Map();
let pendingId = 0;

/**
 * Do something in a few seconds, unless it is undone: what cannot be taken back afterwards.
 * @param {string} text
 * @param {(options: {keepalive: boolean}) => Promise<any>} work
 * @param {() => void} undone
 */
export function deferred(text, work, undone) {
  const id = (pendingId += 1);
  const run = (/** @type {boolean} */ keepalive) => {
    if (!pending.delete(id)) return;
    clearTimeout(timer);
    close();
    work({ keepalive }).catch((error) => { showError(error); undone(); });
  };
  pending.set(id, () => run(true));
  const timer = setTimeout(() => run(false), TOAST_MS - 500);
  const close = toast(text, { undo: () => { if (pending.delete(id)) { clearTimeout(timer); undone(); } } });
}

/** Do now what still waits to be done. */
export function flushDeferred() {
  [...pending.values()].forEach((run) => run());
}
addEventListener("pagehide", flushDeferred);

/**
 * Open a dialog; resolve with the value of the button that closed it.
 * @param {string} title
 * @param {import("../dom.js").Child} body
 * @param {{value: string, text: string, kind?: string}[]} buttons
 * @param {{wide?: boolean}} [options]
 * @returns {Promise<string>}
 */
export function dialog(title, body, buttons, options = {}) {
  return new Promise((resolve) => {
    const box = /** @type {HTMLDialogElement} */ (h("dialog", { class: options.wide ? "wide" : null, "aria-label": title }));
    const done = (/** @type {string} */ value) => { box.close(); box.remove(); resolve(value); };
    append(box, [
      h("header", null, h("h2", null, title), iconButton("close", t("action.close"), () => done(""))),
      h("div", { class: "dialog-body" }, body),
      buttons.length ? h("footer", null, buttons.map((one) => h("button", { type: "button", class: `button ${one.kind ?? ""}`, onclick: () => done(one.value) }, one.text))) : null,
    ]);
    box.addEventListener("cancel", (event) => { event.preventDefault(); done(""); });
    box.addEventListener("click", (event) => { if (event.target === box) done(""); });
    document.body.append(box);
    box.showModal();
  });
}

/**
 * @param {string} name
 * @param {string} label
 * @param {(event: Event) => void} onclick
 * @param {Record<string, any>} [more]
 */
export function iconButton(name, label, onclick, more = {}) {
  return h("button", { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...more }, icon(name));
}

/**
 * @param {string} title
 * @param {string} text
 * @param {...import("../dom.js").Child} actions
 */
export function emptyState(title, text, ...actions) {
  return h("div", { class: "empty" }, h("p", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("h2", null, title), h("p", null, text), h("div", { class: "actions" }, actions));
}

/** @param {number} rows */
export function skeleton(rows) {
  return h("div", { class: "skeletons", role: "status", "aria-label": t("status.loading") }, Array.from({ length: rows }, () => h("div", { class: "skeleton" })));
}

/**
 * Show a skeleton only if the work takes long enough to notice.
 * @param {Element} place
 * @param {number} rows
 */
export function showSkeleton(place, rows) {
  if (!place.children.length) fill(place, skeleton(rows));
}
