// A search field that waits for a pause, and for an input method to finish composing.

import { h, icon } from "../dom.js";

const PAUSE_MS = 180;

/**
 * @param {string} label
 * @param {(text: string) => void} search
 * @param {string} [value]
 */
export function searchField(label, search, value = "") {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  let composing = false;
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: label, "aria-label": label, "data-search": true, autocomplete: "off", value, dir: "auto" }));
  const later = () => {
    clearTimeout(waiting);
    if (!composing) waiting = setTimeout(() => search(input.value), PAUSE_MS);
  };
  input.addEventListener("compositionstart", () => { composing = true; clearTimeout(waiting); });
  input.addEventListener("compositionend", () => { composing = false; later(); });
  input.addEventListener("input", later);
  return h("div", { class: "search" }, icon("search"), input);
}

/**
 * A field with buttons of which one is chosen.
 * @param {string} label
 * @param {[string, string][]} choices
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function segments(label, choices, chosen, choose) {
  const group = h("div", { class: "segments", role: "group", "aria-label": label });
  choices.forEach(([value, text]) => {
    const button = h("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => {
      group.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
      choose(value);
    } }, text);
    group.append(button);
  });
  return group;
}

/**
 * @param {string} label
 * @param {[string, string][]} choices
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function selectField(label, choices, chosen, choose) {
  return h("label", { class: "select" }, h("span", { class: "visually-hidden" }, label),
    h("select", { title: label, onchange: (/** @type {any} */ event) => choose(event.target.value) }, choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text))));
}
