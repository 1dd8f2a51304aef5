// A file field in the language of the page: browsers write theirs in their own.

import { fill, h } from "../dom.js";
import { t } from "../i18n.js";

/**
 * @param {string} id
 * @param {string} accept
 */
export function fileField(id, accept) {
  const name = h("span", { class: "file-name", dir: "auto" }, t("file.none"));
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", id, accept, class: "visually-hidden", onchange: () => fill(name, input.files?.[0]?.name ?? t("file.none")) }));
  const element = h("span", { class: "file-field" }, input, h("label", { class: "button", for: id }, t("file.choose")), name);
  return { element, file: () => input.files?.[0] ?? null };
}
