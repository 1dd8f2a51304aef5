// Build elements. Text is only ever a text node: nothing here can turn it into markup.

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, any>} Props */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an element: `h("button", {class: "x", onclick: f}, "text")`.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(element, name, value);
  append(element, children);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {any} value
 */
function setProp(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "width_pct") element.style.width = `${value}%`;
  else if (name === "value" || name === "checked" || name === "selected" || name === "indeterminate") {
    /** @type {any} */ (element)[name] = value;
  } else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Node} parent
 * @param {Child} child
 */
export function append(parent, child) {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) child.forEach((one) => append(parent, one));
  else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
}

/**
 * Replace what an element holds.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  const fresh = document.createDocumentFragment();
  append(fresh, children);
  parent.replaceChildren(fresh);
}

/** @type {Record<string, string>} */
const ICONS = {
  say: "M4 5h16v11H9l-5 4z",
  memories: "M5 4h14v16H5zM9 8h6M9 12h6M9 16h3",
  inbox: "M4 13l2-8h12l2 8v6H4zM4 13h5l1 2h4l1-2h5",
  about: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c1-4 4-6 8-6s7 2 8 6",
  lab: "M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3M7.5 15h9",
  timeline: "M12 7v5l3 3M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  persona: "M12 3l2.4 5 5.6.8-4 3.9 1 5.5-5-2.7-5 2.7 1-5.5-4-3.9 5.6-.8z",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  connect: "M9 7H7a5 5 0 0 0 0 10h2M15 7h2a5 5 0 0 1 0 10h-2M8 12h8",
  transfer: "M7 4v14M7 4L4 7M7 4l3 3M17 20V6M17 20l-3-3M17 20l3-3",
  operations: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12l5 5 9-10",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  undo: "M9 14L4 9l5-5M4 9h9a6 6 0 0 1 0 12h-2",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  phone: "M8 3h8v18H8zM11 18h2",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  send: "M4 12l16-8-5 16-3-7z",
  down: "M6 9l6 6 6-6",
};

/**
 * Draw one of our icons; it says nothing to a screen reader.
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name] ?? ICONS.more);
  svg.append(path);
  return svg;
}

/**
 * Draw values over time as a line; screen readers read the figure beside it.
 * @param {number[]} values
 */
export function sparkline(values) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "spark");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  const top = Math.max(1e-9, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  path.setAttribute("d", values.map((value, at) => `${at ? "L" : "M"}${(at * step).toFixed(2)} ${(29 - (27 * value) / top).toFixed(2)}`).join(""));
  svg.append(path);
  return svg;
}

/**
 * Draw a QR code from rows of 0 and 1.
 * @param {string[]} rows
 * @param {string} label
 */
export function qrCode(rows, label) {
  const svg = document.createElementNS(SVG, "svg");
  const size = rows.length + 8;
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("class", "qr");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const path = document.createElementNS(SVG, "path");
  const dots = rows.flatMap((row, y) => [...row].map((dot, x) => (dot === "1" ? `M${x + 4} ${y + 4}h1v1h-1z` : "")));
  path.setAttribute("d", dots.join(""));
  svg.append(path);
  return svg;
}
