// The texts of the console: one catalogue per language, and dates and numbers as it writes them.

import en from "./i18n/en.js";
import zh from "./i18n/zh.js";

/** @type {Record<string, Record<string, string>>} */
const CATALOGUES = { zh, en };
const STORED = "pm.language";

/** @returns {"zh" | "en"} */
function initialLanguage() {
  const stored = localStorage.getItem(STORED);
  if (stored === "zh" || stored === "en") return stored;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

let language = initialLanguage();

export function currentLanguage() {
  return language;
}

/** @param {"zh" | "en"} chosen */
export function setLanguage(chosen) {
  language = chosen;
  localStorage.setItem(STORED, chosen);
  applyLanguage();
}

export function applyLanguage() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

/**
 * Return a text; `{name}` in it is replaced.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  const text = CATALOGUES[language][key] ?? CATALOGUES.en[key] ?? key;
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole)) : text;
}

/**
 * Return the text of a key, or another text if the catalogue has none.
 * @param {string} key
 * @param {string} otherwise
 */
export function tOr(key, otherwise) {
  return CATALOGUES[language][key] ?? otherwise;
}

const locale = () => (language === "zh" ? "zh-CN" : "en-GB");

/** @param {number} value */
export function number(value) {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(value);
}

/** @param {number | null | undefined} seconds */
export function dateTime(seconds) {
  if (seconds === null || seconds === undefined) return t("time.never");
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
}

/** @param {number} seconds */
export function day(seconds) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "full" }).format(seconds * 1000);
}

/** @param {number} seconds */
export function clock(seconds) {
  return new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(seconds * 1000);
}

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/**
 * Return how long ago a time is, such as "3 days ago".
 * @param {number | null | undefined} seconds
 */
export function ago(seconds) {
  if (seconds === null || seconds === undefined) return t("time.never");
  const passed = seconds - Date.now() / 1000;
  const [unit, length] = UNITS.find(([, size]) => Math.abs(passed) >= size) ?? ["minute", 60];
  if (Math.abs(passed) < 60) return t("time.now");
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(passed / length), unit);
}
