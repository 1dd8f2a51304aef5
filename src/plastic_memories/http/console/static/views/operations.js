// Operations, for whoever runs the hub: problems, parts, queue, figures, keys, settings.

import { get, post } from "../api.js";
import { fill, h, sparkline } from "../dom.js";
import { ago, number, t, tOr } from "../i18n.js";
import { guarded, showSkeleton, toast } from "../parts/feedback.js";
import { keyTable } from "./connect.js";
import { searchField } from "../parts/search.js";

const POLL_MS = 3000;
const KEPT = 100;

/** @param {import("../app.js").View} view */
export async function render(view) {
  showSkeleton(view.element, 5);
  await guarded(() => show(view));
}

/** @param {import("../app.js").View} view */
async function show(view) {
  const [found, health, jobs, keys, metrics] = await Promise.all([get("/console/operations"), get("/health"), get("/jobs", { limit: 50 }), get("/console/keys"), metricSamples()]);
  const reload = () => guarded(() => show(view));
  fill(view.element,
    h("section", { class: "card" }, h("h2", null, t("ops.health")), h("p", { class: `verdict ${health.status}` }, t(`ops.${health.status}`)), found.problems.length ? h("ul", { class: "plain-list" }, found.problems.map((/** @type {string} */ one) => h("li", null, one))) : h("p", { class: "hint" }, t("ops.no_problems")), parts(health)),
    h("section", { class: "card" }, h("h2", null, t("ops.size")), h("div", { class: "tiles" }, Object.entries(found.counts).map(([name, n]) => h("div", { class: "tile" }, h("b", null, number(Number(n))), h("span", null, tOr(`count.${name}`, name)))))),
    figures(view, metrics),
    latency(metrics),
    jobCard(jobs.items, reload),
    keys.items.length ? h("section", { class: "card" }, h("h2", null, t("connect.keys")), h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": t("connect.keys") }, keyTable(keys.items, reload))) : null,
    backups(found.storage),
    settingsCard(found.settings));
}

async function metricSamples() {
  const response = await fetch("/metrics", { headers: { Accept: "application/json", "X-Console": "1" } });
  return response.ok ? (await response.json()).data.samples : [];
}

/** @param {any} health */
function parts(health) {
  const rows = Object.entries(health.components ?? {}).map(([name, value]) => [name, typeof value === "object" && value ? Object.entries(value).filter(([, one]) => one !== null && one !== "").map(([key, one]) => `${key}: ${typeof one === "object" ? JSON.stringify(one) : one}`).join(" · ") : String(value)]);
  return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

/**
 * The sum of a metric over all its labels.
 * @param {any[]} samples
 * @param {string} ending
 * @param {Record<string, string>} [labels]
 */
function total(samples, ending, labels = {}) {
  return samples.filter((one) => String(one.name).endsWith(ending) && Object.entries(labels).every(([name, value]) => one.labels?.[name] === value)).reduce((sum, one) => sum + Number(one.value), 0);
}

/**
 * Requests and their time while this page is open, and what the model was asked.
 * @param {import("../app.js").View} view
 * @param {any[]} first
 */
function figures(view, first) {
  const place = h("div", { class: "live-figures" });
  /** @type {number[]} */
  const rates = [];
  /** @type {number[]} */
  const times = [];
  let before = { samples: first, at: performance.now() };
  const draw = () => fill(place,
    h("div", null, h("h3", null, t("ops.rate")), h("b", null, number(rates.at(-1) ?? 0)), sparkline(rates)),
    h("div", null, h("h3", null, t("ops.time")), h("b", null, `${number(times.at(-1) ?? 0)} ms`), sparkline(times)),
    h("div", null, h("h3", null, t("ops.tokens")), h("b", null, `${number(total(before.samples, "memory_model_tokens_total", { kind: "in" }))} / ${number(total(before.samples, "memory_model_tokens_total", { kind: "out" }))}`), h("p", { class: "hint" }, t("ops.cost", { n: number(total(before.samples, "memory_model_cost_total")) }))));
  const timer = setInterval(async () => {
    const samples = await metricSamples().catch(() => null);
    if (!samples) return;
    const at = performance.now();
    // The poll itself and the pages of this console are requests, too.
    const count = total(samples, "http_request_seconds_count") - total(before.samples, "http_request_seconds_count");
    const sum = total(samples, "http_request_seconds_sum") - total(before.samples, "http_request_seconds_sum");
    rates.push(Math.max(0, Math.round((10_000 * count) / (at - before.at)) / 10));
    times.push(count ? Math.round((10_000 * sum) / count) / 10 : 0);
    if (rates.length > KEPT) { rates.shift(); times.shift(); }
    before = { samples, at };
    draw();
  }, POLL_MS);
  view.onLeave(() => clearInterval(timer));
  draw();
  return h("section", { class: "card" }, h("h2", null, t("ops.live")), place);
}

/** @param {any[]} samples */
function latency(samples) {
  /** @type {Map<string, {count: number, sum: number}>} */
  const byRoute = new Map();
  for (const one of samples) {
    const name = String(one.name ?? "");
    const route = one.labels?.route;
    if (!route || !name.includes("http_request_seconds")) continue;
    const row = byRoute.get(route) ?? { count: 0, sum: 0 };
    if (name.endsWith("_count")) row.count += one.value;
    if (name.endsWith("_sum")) row.sum += one.value;
    byRoute.set(route, row);
  }
  const rows = [...byRoute.entries()].filter(([, row]) => row.count).sort((a, b) => b[1].count - a[1].count).slice(0, 12);
  const most = Math.max(1, ...rows.map(([, row]) => row.count));
  if (!rows.length) return null;
  return h("section", { class: "card" }, h("h2", null, t("ops.requests")), h("div", { class: "bars wide-bars" }, rows.map(([route, row]) => h("div", { class: "bar" }, h("code", null, route), h("span", { class: "track" }, h("i", { width_pct: (100 * row.count) / most })), h("span", { class: "value" }, t("ops.request_row", { n: number(row.count), ms: number(Math.round((10_000 * row.sum) / row.count) / 10) }))))));
}

/**
 * @param {any[]} jobs
 * @param {() => void} reload
 */
function jobCard(jobs, reload) {
  const dead = jobs.filter((one) => one.status === "dead");
  const replay = (/** @type {any} */ body) => guarded(async () => { const done = await post("/jobs/replay", body); toast(t("ops.replayed", { n: done.replayed })); reload(); });
  return h("section", { class: "card" }, h("h2", null, t("ops.jobs")),
    dead.length ? h("div", { class: "actions" }, h("button", { type: "button", class: "button", onclick: () => replay({ status: "dead" }) }, t("ops.replay_all", { n: dead.length }))) : null,
    jobs.length ? h("ul", { class: "plain-list log" }, jobs.slice(0, 20).map((one) => h("li", null, h("span", { class: `chip job-${one.status}` }, tOr(`job.${one.status}`, one.status)), h("code", null, one.task_type), h("span", { dir: "auto" }, one.persona_id), h("time", null, ago(one.completed_at ?? one.created_at)), one.error_message ? h("span", { class: "why", dir: "auto" }, one.error_message) : null, one.status === "dead" ? h("button", { type: "button", class: "text-button", onclick: () => replay({ job_id: one.task_id }) }, t("ops.replay")) : null))) : h("p", { class: "hint" }, t("ops.no_jobs")));
}

/** @param {any} storage */
function backups(storage) {
  return h("section", { class: "card" }, h("h2", null, t("ops.backup")), h("p", null, t("ops.backup_hint")), h("pre", { tabindex: "0" }, h("code", null, `plastic-memories backup memories-backup.db\nplastic-memories restore memories-backup.db --help\nplastic-memories doctor`)), storage.db_path ? h("p", { class: "hint" }, storage.db_path) : null);
}

/** @param {any[]} settings */
function settingsCard(settings) {
  const list = h("dl", { class: "facts settings" });
  const draw = (/** @type {string} */ text) => {
    const shown = settings.filter((one) => one.name.toLowerCase().includes(text.toLowerCase()) && (text || !one.is_default));
    fill(list, shown.length ? shown.map((one) => h("div", null, h("dt", null, h("code", null, one.name), one.is_default ? null : h("span", { class: "chip accent" }, t("ops.changed"))), h("dd", null, one.value || "—"))) : h("div", null, h("dt", null, t("ops.defaults"))));
  };
  draw("");
  return h("section", { class: "card" }, h("h2", null, t("ops.settings")), h("p", { class: "hint" }, t("ops.settings_hint")), searchField(t("ops.find_setting"), draw), list);
}

