// Persona: the profile as it is injected, slots, goals, templates, cards, pages, the demo.

import { choosePersona, download, get, here, personaName, post, request, state } from "../api.js";
import { fill, h } from "../dom.js";
import { ago, t, tOr } from "../i18n.js";
import { dialog, guarded, showSkeleton, toast } from "../parts/feedback.js";
import { fileField } from "../parts/file_field.js";
import { demoButton } from "../parts/demo.js";
import { openMemory, showReceipt } from "../parts/memory.js";

const GOAL_STATUSES = ["active", "paused", "done", "dropped"];

/** @param {import("../app.js").View} view */
export async function render(view) {
  showSkeleton(view.element, 4);
  const reload = () => guarded(() => show(view));
  await reload();
}

/** @param {import("../app.js").View} view */
async function show(view) {
  const place = { persona_id: state.persona };
  const [profile, slots, goals, known, rules, pages] = await Promise.all([
    get("/persona/profile", here()), post("/persona/slots/get", here()), get("/goals/list", place), get("/capabilities"), get("/memory/list", { ...here(), type: "rule", limit: 100 }), get("/memory/pages", place).catch(() => ({ core: null, extended: [] })),
  ]);
  const reload = async () => { await view.shell.refreshPersonas(); await show(view); };
  fill(view.element,
    newPersona(reload),
    h("section", { class: "card" }, h("h2", null, t("persona.profile", { persona: personaName(state.persona) })), profile.profile_markdown.trim() ? h("pre", { class: "block", dir: "auto", tabindex: "0" }, profile.profile_markdown) : h("p", { class: "hint" }, t("persona.no_profile"))),
    slots.items.length ? h("section", { class: "card" }, h("h2", null, t("persona.slots")), h("dl", { class: "facts" }, slots.items.map((/** @type {any} */ slot) => h("div", null, h("dt", null, tOr(`type.${slot.slot_name}`, slot.slot_name)), h("dd", { dir: "auto" }, slotText(slot.value), h("small", null, ago(slot.updated_at)), provenance(slot, reload)))))) : null,
    rules.items.length ? h("section", { class: "card" }, h("h2", null, t("persona.rules")), h("ul", { class: "plain-list" }, rules.items.map((/** @type {any} */ one) => h("li", null, h("button", { type: "button", class: "link", dir: "auto", onclick: () => openMemory(one.id, one.persona_id, reload) }, one.content))))) : null,
    goalCard(goals.items, reload),
    templateCard(known.templates, reload),
    pageCard(pages),
    cardCard(reload),
    h("section", { class: "card danger-zone" }, h("h2", null, t("persona.remove")), h("div", { class: "actions" }, demoButton(view), h("button", { type: "button", class: "button danger", onclick: () => deletePersona(view) }, t("persona.delete", { persona: personaName(state.persona) })))));
}

/**
 * The memories a slot was made from.
 * @param {any} slot
 * @param {() => void} reload
 */
function provenance(slot, reload) {
  const ids = slot.provenance?.active_memory_ids ?? [];
  return ids.map((/** @type {number} */ id) => h("button", { type: "button", class: "chip link", title: t("persona.from_memory"), onclick: () => openMemory(id, state.persona, reload) }, `#${id}`));
}

/** @param {any} value */
function slotText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** @param {() => Promise<void>} reload */
function newPersona(reload) {
  const name = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "new-persona", placeholder: t("persona.new_name"), required: true, maxlength: 100 }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    return guarded(async () => { const id = name.value.trim(); await post("/persona/create", { persona_id: id, display_name: id }); choosePersona(id); toast(t("persona.created")); await reload(); });
  };
  return state.me?.read_only || state.me?.persona_id ? null : h("form", { class: "card inline-form", onsubmit: submit }, h("label", { for: "new-persona" }, t("persona.new")), name, h("button", { class: "button", type: "submit" }, t("action.create")));
}

/**
 * @param {any[]} goals
 * @param {() => Promise<void>} reload
 */
function goalCard(goals, reload) {
  const title = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "new-goal", placeholder: t("persona.goal_placeholder"), required: true }));
  const add = (/** @type {Event} */ event) => { event.preventDefault(); return guarded(async () => { await post("/goals/create", { persona_id: state.persona, title: title.value.trim() }); await reload(); }); };
  const set = (/** @type {any} */ goal, /** @type {string} */ status) => guarded(async () => { await post("/goals/update_status", { persona_id: state.persona, goal_id: goal.id, status }); await reload(); });
  return h("section", { class: "card" }, h("h2", null, t("persona.goals")),
    h("ul", { class: "plain-list goals" }, goals.map((goal) => h("li", null, h("span", { dir: "auto" }, goal.title), h("label", { class: "select" }, h("span", { class: "visually-hidden" }, t("persona.goal_status")), h("select", { onchange: (/** @type {any} */ event) => set(goal, event.target.value) }, GOAL_STATUSES.map((one) => h("option", { value: one, selected: one === goal.status }, t(`goal.${one}`)))))))),
    h("form", { class: "inline-form", onsubmit: add }, h("label", { class: "visually-hidden", for: "new-goal" }, t("persona.goal_placeholder")), title, h("button", { class: "button", type: "submit" }, t("action.add"))));
}

/**
 * @param {string[]} templates
 * @param {() => Promise<void>} reload
 */
function templateCard(templates, reload) {
  if (!templates.length) return null;
  const apply = (/** @type {string} */ path) => guarded(async () => { const done = await post("/persona/create_from_template", { persona_id: state.persona, template_path: path }); toast(t("persona.template_applied", { n: done.applied.length, skipped: done.skipped.length })); await reload(); });
  return h("section", { class: "card" }, h("h2", null, t("persona.templates")), h("p", { class: "hint" }, t("persona.templates_hint")), h("div", { class: "actions" }, templates.map((path) => h("button", { type: "button", class: "button", onclick: () => apply(path) }, path))));
}

/** @param {any} pages */
function pageCard(pages) {
  const all = [...(pages.core ? [pages.core] : []), ...pages.extended];
  if (!all.length) return null;
  const open = (/** @type {any} */ page) => guarded(async () => { const found = await get("/memory/page", { persona_id: state.persona, page_id: page.id }); await dialog(page.title, h("pre", { class: "block", dir: "auto", tabindex: "0" }, found.text), [], { wide: true }); });
  return h("section", { class: "card" }, h("h2", null, t("persona.pages")), h("ul", { class: "plain-list" }, all.map((page) => h("li", null, h("button", { type: "button", class: "link", onclick: () => open(page) }, page.title || page.id)))));
}

/** @param {() => Promise<void>} reload */
function cardCard(reload) {
  const field = fileField("card-file", ".png,.json");
  const bring = () => guarded(async () => {
    const chosen = field.file();
    if (!chosen) return;
    const response = await request(`/persona/import_card?persona_id=${encodeURIComponent(state.persona)}`, { method: "POST", body: chosen, headers: { "Content-Type": chosen.type || "application/json" } });
    toast(t("persona.card_imported", { name: (await response.json()).data.name }));
    await reload();
  });
  const take = (/** @type {string} */ format) => guarded(() => download(`/persona/export_card?persona_id=${encodeURIComponent(state.persona)}&format=${format}`, `${state.persona}.${format}`));
  return h("section", { class: "card" }, h("h2", null, t("persona.card")), h("div", { class: "actions" }, h("span", null, t("persona.card_import")), field.element, h("button", { type: "button", class: "button", onclick: bring }, t("action.import")), h("button", { type: "button", class: "button", onclick: () => take("png") }, "PNG ↓"), h("button", { type: "button", class: "button", onclick: () => take("json") }, "JSON ↓")));
}

/** @param {import("../app.js").View} view */
async function deletePersona(view) {
  const persona = state.persona;
  const field = /** @type {HTMLInputElement} */ (h("input", { type: "text", "aria-label": t("persona.delete_confirm", { persona }) }));
  const answer = await dialog(t("persona.delete", { persona: personaName(persona) }), [h("p", null, t("persona.delete_confirm", { persona })), field], [{ value: "", text: t("action.cancel") }, { value: "yes", text: t("action.delete"), kind: "danger" }]);
  if (answer !== "yes") return;
  await guarded(async () => {
    const done = await post("/persona/delete", { persona_id: persona, confirm: field.value });
    choosePersona("default");
    await view.shell.refreshPersonas();
    view.reload();
    await showReceipt(done.receipt, t("persona.deleted"));
  });
}
