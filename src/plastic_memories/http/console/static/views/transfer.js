// Import and export: everything out as a file, and in again after a look at what would be learned.

import { download, request, state } from "../api.js";
import { fill, h } from "../dom.js";
import { number, t, tOr } from "../i18n.js";
import { chatImportCard } from "../parts/chat_import.js";
import { fileField } from "../parts/file_field.js";
import { guarded, toast } from "../parts/feedback.js";

/** @type {[string, string][]} */
const FORMATS = [["jsonl", "jsonl"], ["markdown", "md"], ["bundle", "zip"]];

/** @param {import("../app.js").View} view */
export function render(view) {
  const field = fileField("import-file", ".jsonl,.zip,.txt");
  const trust = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  const report = h("div", { "aria-live": "polite" });
  const run = (/** @type {boolean} */ dryRun) => guarded(async () => {
    const chosen = field.file();
    if (!chosen) { toast(t("transfer.choose"), { bad: true }); return; }
    fill(report, h("p", { class: "progress", role: "status" }, t("transfer.reading")));
    try {
      const response = await request(`/import?dry_run=${dryRun}&trust=${trust.checked}`, { method: "POST", body: chosen });
      const done = (await response.json()).data;
      fill(report, importReport(done));
      if (!dryRun) { toast(t("transfer.done")); await view.shell.refreshPersonas(); }
    } catch (error) {
      fill(report);
      throw error;
    }
  });
  fill(view.element,
    h("section", { class: "card" }, h("h2", null, t("transfer.export")), h("p", null, t("transfer.export_hint")),
      h("div", { class: "actions" }, FORMATS.map(([format, suffix]) => h("button", { type: "button", class: "button", onclick: () => guarded(() => download(`/export?format=${format}`, `plastic_memories.${suffix}`)) }, t(`transfer.${format}`))))),
    state.me?.read_only ? null : h("section", { class: "card" }, h("h2", null, t("transfer.import")), h("p", null, t("transfer.import_hint")),
      h("p", null, t("transfer.file")), field.element,
      h("label", { class: "check" }, trust, h("span", null, t("transfer.trust"), h("small", null, t("transfer.trust_hint")))),
      h("div", { class: "actions" }, h("button", { type: "button", class: "button primary", onclick: () => run(true) }, t("transfer.preview")), h("button", { type: "button", class: "button", onclick: () => run(false) }, t("action.import"))), report),
    state.me?.read_only ? null : chatImportCard(() => guarded(() => view.shell.refreshInbox())),
    h("section", { class: "card" }, h("h2", null, t("transfer.elsewhere")), h("p", null, t("transfer.elsewhere_hint")), h("pre", { tabindex: "0" }, h("code", null, "plastic-memories import --help\nplastic-memories markdown sync\nplastic-memories persona import-card card.png"))));
}

/** @param {any} done */
function importReport(done) {
  return h("div", { class: "report" }, h("h3", null, done.dry_run ? t("transfer.would") : t("transfer.did")),
    h("dl", { class: "facts" }, Object.entries(done.counts).map(([name, n]) => h("div", null, h("dt", null, tOr(`count.${name}`, name)), h("dd", null, number(Number(n)))))),
    done.conflicts.length ? [h("h3", null, t("transfer.conflicts", { n: done.conflicts.length })), h("ul", { class: "plain-list" }, done.conflicts.slice(0, 50).map((/** @type {any} */ one) => h("li", null, `${one.type} · ${one.key}`)))] : null,
    done.skipped.length ? [h("h3", null, t("transfer.skipped", { n: done.skipped.length })), h("ul", { class: "plain-list" }, done.skipped.slice(0, 50).map((/** @type {any} */ one) => h("li", null, t("transfer.line", { n: one.line }), " ", one.reason)))] : null);
}
