// Draws the reference from /openapi.json. Text only ever enters the page as text, never as HTML.

const METHODS = ["get", "post", "put", "patch", "delete"];
const KEY_IN_COMMAND = "$PLASTIC_MEMORIES_KEY";
// What a first try should look like; the schema alone cannot know.
const EXAMPLES = {
  persona_id: "default",
  confirm: "default",
  type: "profile",
  key: "constraint.allergy.seafood",
  content: "我对海鲜过敏",
  query: "晚饭吃什么好？",
  role: "user",
  title: "Learn Rust",
  template_path: "xiaoyu",
  memory_id: 1,
  goal_id: 1,
  status: "done",
  days: 90,
  display_name: "小雨",
  time_zone: "Asia/Shanghai",
  language: "zh-CN",
};
// Without these a first try would change nothing, though the schema allows it.
const ALSO = { "/memory/update": ["content"], "/persona/create": ["display_name"] };

const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== ""));
  return made;
}

/** Turn `code` in a description into code. */
function prose(text) {
  return (text ?? "").split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

// ---- schemas ----

/** Follow references; what stands beside a reference (a default, a description) wins over it. */
function resolver(document) {
  return function resolve(schema = {}, hops = 0) {
    const { $ref, ...beside } = schema;
    if (!$ref || hops > 9) return beside;
    const place = $ref.replace("#/", "").split("/");
    const target = place.reduce((node, name) => node?.[name], document) ?? {};
    return { ...resolve(target, hops + 1), ...beside };
  };
}

let resolve = (schema) => schema;

/** Return the alternatives of a schema without null, and whether null is one of them. */
function alternatives(schema) {
  // An object with fields of its own is one thing, whatever it asks for besides (`eitherOf`).
  const several = schema.properties ? null : (schema.anyOf ?? schema.oneOf);
  const all = (several ?? [schema]).map((one) => resolve(one));
  return { options: all.filter((one) => one.type !== "null"), nullable: all.some((one) => one.type === "null") };
}

function typeName(schema, depth = 0) {
  const { options, nullable } = alternatives(resolve(schema));
  const names = options.map((option) => plainType(option, depth));
  return [...new Set(names)].join(" or ") + (nullable ? ", or null" : "");
}

function plainType(schema, depth) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf || schema.oneOf) return depth < 3 ? typeName(schema, depth + 1) : "any";
  if (schema.type === "array") return `list of ${depth < 3 ? typeName(schema.items ?? {}, depth + 1) : "any"}`;
  return schema.type ?? "any";
}

function limits(schema) {
  const { options } = alternatives(resolve(schema));
  const notes = [];
  for (const one of [resolve(schema), ...options]) {
    if (one.minLength > 0) notes.push(one.minLength === 1 ? "not empty" : `at least ${one.minLength} characters`);
    if (one.maxLength != null) notes.push(`at most ${one.maxLength} characters`);
    if (one.minimum != null) notes.push(`≥ ${one.minimum}`);
    if (one.exclusiveMinimum != null) notes.push(`> ${one.exclusiveMinimum}`);
    if (one.maximum != null && one.maximum < 2 ** 53) notes.push(`≤ ${one.maximum}`);
    if (one.maxItems != null) notes.push(`at most ${one.maxItems} items`);
  }
  const standard = resolve(schema).default;
  if (standard != null && String(standard) !== "") notes.push(`default ${JSON.stringify(standard)}`);
  return [...new Set(notes)].join(" · ");
}

/** Return the object schemas inside a schema: its own, of its list items, of its alternatives. */
function objectsIn(schema, depth = 0) {
  if (depth > 4) return [];
  return alternatives(resolve(schema)).options.flatMap((option) => {
    if (option.properties) return [option];
    if (option.type === "array") return objectsIn(option.items ?? {}, depth + 1);
    return option.anyOf || option.oneOf ? objectsIn(option, depth + 1) : [];
  });
}

/** Return the sets of fields of which a request needs one: `type` and `key`, or `memory_id`. */
function eitherOf(schema) {
  const sets = schema.properties ? (schema.anyOf ?? schema.oneOf ?? []).map((one) => one.required ?? []) : [];
  return sets.filter((names) => names.length);
}

/** List the fields of an object; in a request, what is required is marked. */
function fieldList(schema, marked, depth = 0) {
  const required = new Set(marked ? schema.required : []);
  const items = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    fieldRow(name, field, { required: required.has(name), marked, depth }),
  );
  const either = eitherOf(schema).map((names) => names.join(" and "));
  const note = either.length ? element("p", { class: "hint" }, `Needs one of: ${either.join("; ")}.`) : "";
  return element("div", { class: "shape" }, note, element("ul", { class: "fields" }, items));
}

function fieldRow(name, schema, { required, marked, depth }) {
  const mark = required ? element("span", { class: "required", title: "required" }, " *") : "";
  const note = resolve(schema).description ?? schema.description;
  const about = [typeName(schema), limits(schema)].filter(Boolean).join(" · ");
  const row = element(
    "li",
    {},
    element("span", { class: "name" }, name, mark),
    element("span", { class: "type" }, about, note ? element("span", { class: "note" }, prose(note)) : ""),
  );
  const inner = depth < 4 ? objectsIn(schema) : [];
  if (inner.length) row.append(lazily("fields", () => inner.map((one) => fieldList(one, marked, depth + 1))));
  return row;
}

/** Draw the inside of a fold only when it is opened: most never are. */
function lazily(title, draw, attributes = {}) {
  const fold = element("details", attributes, element("summary", {}, title));
  const fill = () => {
    if (fold.open && fold.children.length === 1) fold.append(...[draw()].flat());
  };
  fold.addEventListener("toggle", fill);
  fill();
  return fold;
}

function schemaView(schema, marked) {
  const shapes = objectsIn(schema);
  if (!shapes.length) return [element("p", { class: "type" }, typeName(schema))];
  if (shapes.length === 1) return [fieldList(shapes[0], marked)];
  return shapes.map((shape, place) =>
    lazily(spaced(shape.title), () => fieldList(shape, marked), { class: "variant", open: place === 0 }),
  );
}

/** Write the name of a schema as words: `WriteMany` is "Write many". */
function spaced(title = "Fields") {
  const words = title.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// ---- examples ----

function exampleOf(schema, name = "", depth = 0) {
  const found = alternatives(resolve(schema)).options[0] ?? {};
  if (found.const !== undefined) return found.const;
  const wished = EXAMPLES[name];
  if (wished !== undefined && (!found.enum || found.enum.includes(wished))) return wished;
  if (found.enum) return found.enum[0];
  if (found.default != null) return found.default;
  if (found.properties && depth < 5) return exampleObject(found, depth);
  if (found.type === "array") return depth < 5 ? [exampleOf(found.items ?? {}, "", depth + 1)] : [];
  return { string: "", integer: 1, number: 1, boolean: false, object: {} }[found.type] ?? null;
}

function exampleObject(schema, depth) {
  const needed = [...(schema.required ?? []), ...(eitherOf(schema)[0] ?? [])];
  const names = needed.length ? [...new Set(needed)] : Object.keys(schema.properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, exampleOf(schema.properties[name] ?? {}, name, depth + 1)]));
}

// ---- one route ----

function routeView(route) {
  const { path, method, operation } = route;
  const content = Object.entries(operation.requestBody?.content ?? {});
  return element(
    "article",
    { class: "route", id: route.id },
    element(
      "header",
      {},
      element("span", { class: `method ${method}` }, method),
      element("h3", { class: "path" }, element("a", { href: `#${route.id}` }, path)),
      operation.security ? "" : element("span", { class: "open" }, "no key needed"),
    ),
    element("p", {}, prose(operation.description ?? operation.summary)),
    parametersView(operation.parameters ?? []),
    content.flatMap(([kind, body]) => [heading("Request", kind), ...schemaView(body.schema ?? {}, true)]),
    answerView(operation.responses["200"]),
    heading("Statuses"),
    statusesView(operation.responses),
    lazily("Try it", () => tryView(route), { class: "try" }),
  );
}

function heading(title, note = "") {
  return element("h4", {}, title, note ? element("em", {}, ` ${note}`) : "");
}

/** Show the query parameters; headers are the same everywhere and stand in the introduction. */
function parametersView(parameters) {
  const own = parameters.filter((one) => one.in !== "header");
  if (!own.length) return [];
  const rows = own.map((one) => {
    const field = { description: one.description, ...resolve(one.schema) };
    return fieldRow(one.name, field, { required: one.required, marked: true, depth: 0 });
  });
  return [heading("Parameters"), element("ul", { class: "fields" }, rows)];
}

function answerView(response) {
  const content = Object.entries(response?.content ?? {});
  return content.flatMap(([kind, body]) => {
    const inner = resolve(body.schema ?? {}).properties?.data;
    if (!inner) return [heading("Answer", kind)];
    const names = [...new Set(objectsIn(inner).flatMap((shape) => Object.keys(shape.properties)))];
    const title = names.length > 9 ? [...names.slice(0, 8), `and ${names.length - 8} more`] : names;
    return [heading("Answer", "data"), lazily(title.join(", "), () => schemaView(inner, false), { class: "names" })];
  });
}

function statusesView(responses) {
  const codes = Object.entries(responses).sort(([one], [other]) => one - other);
  return element(
    "ul",
    { class: "statuses" },
    codes.map(([code, response]) =>
      element("li", { class: code < 400 ? "good" : null, title: response.description }, code),
    ),
  );
}

// ---- trying it ----

function tryView(route) {
  const inputs = (route.operation.parameters ?? []).map((one) => parameterInput(one));
  const body = bodyInput(route);
  const verdict = element("p", { class: "verdict", role: "status", hidden: true });
  const answer = element("pre", { class: "answer", hidden: true });
  const request = () => buildRequest(route, inputs, body);
  const send = async (event) => {
    event.preventDefault();
    await sendRequest(request(), verdict, answer);
  };
  return element(
    "form",
    { onsubmit: send },
    inputs.map((one) => one.label),
    body ? [body.choices, body.area] : [],
    element(
      "div",
      { class: "row" },
      element("button", { class: "primary", type: "submit" }, "Send"),
      element("button", { type: "button", onclick: (event) => copy(curlOf(request()), event.target) }, "Copy as curl"),
    ),
    verdict,
    answer,
  );
}

function parameterInput(parameter) {
  const example = parameter.required ? String(exampleOf(parameter.schema, parameter.name)) : "";
  const input = element("input", { value: example, placeholder: limits(parameter.schema), spellcheck: "false" });
  const label = element("label", {}, element("span", {}, parameter.name, parameter.required ? " *" : ""), input);
  return { parameter, input, label };
}

function bodyInput({ path, operation }) {
  const [kind, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (!kind) return null;
  const area = element("textarea", { "aria-label": "Request body", spellcheck: "false" });
  const shapes = kind === "application/json" ? objectsIn(content.schema ?? {}) : [];
  const show = (shape) => {
    const required = [...(shape.required ?? []), ...(ALSO[path] ?? [])];
    area.value = JSON.stringify(exampleObject({ ...shape, required }, 0), null, 2);
  };
  if (shapes.length) show(shapes[0]);
  const choices = shapes.length > 1 ? choiceButtons(shapes, show) : "";
  return { kind, area, choices };
}

function choiceButtons(shapes, show) {
  const row = element("div", { class: "choices" });
  shapes.forEach((shape, place) => {
    const choose = (event) => {
      for (const other of row.children) other.setAttribute("aria-pressed", other === event.target);
      show(shape);
    };
    const attributes = { type: "button", "aria-pressed": String(place === 0), onclick: choose };
    row.append(element("button", attributes, spaced(shape.title)));
  });
  return row;
}

function buildRequest(route, inputs, body) {
  const url = new URL(route.path, location.origin);
  const headers = {};
  for (const { parameter, input } of inputs) {
    if (input.value === "") continue;
    if (parameter.in === "query") url.searchParams.append(parameter.name, input.value);
    if (parameter.in === "header") headers[parameter.name] = input.value;
  }
  if (body) headers["Content-Type"] = body.kind;
  const keyed = Boolean(route.operation.security) || byId("key").value !== "";
  return { method: route.method.toUpperCase(), url, headers, body: body?.area.value, keyed };
}

async function sendRequest(request, verdict, answer) {
  const headers = { ...request.headers };
  if (byId("key").value) headers["X-API-Key"] = byId("key").value;
  const started = performance.now();
  verdict.hidden = false;
  try {
    const response = await fetch(request.url, { method: request.method, headers, body: request.body });
    const text = await response.text();
    verdict.textContent = `${response.status} ${response.statusText} · ${Math.round(performance.now() - started)} ms`;
    verdict.classList.toggle("failed", !response.ok);
    answer.textContent = pretty(text);
    answer.hidden = false;
  } catch (problem) {
    verdict.textContent = `The hub cannot be reached: ${problem.message}`;
    verdict.classList.add("failed");
    answer.hidden = true;
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Write the request for a shell; the key stays a variable, so that it lands in no history. */
function curlOf(request) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ["curl -s"];
  if (request.method !== "GET") parts.push(`-X ${request.method}`);
  parts.push(quote(request.url.href));
  if (request.keyed) parts.push(`-H "X-API-Key: ${KEY_IN_COMMAND}"`);
  for (const [name, value] of Object.entries(request.headers)) parts.push("-H " + quote(`${name}: ${value}`));
  if (request.body) parts.push("--data-binary " + quote(request.body));
  return parts.join(" \\\n  ");
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // The clipboard needs https or a local address; elsewhere the text is shown to be copied by hand.
    button.closest("form").querySelector(".answer").textContent = text;
    button.closest("form").querySelector(".answer").hidden = false;
  }
  setTimeout(() => (button.textContent = before), 1500);
}

// ---- the page ----

function routesOf(document) {
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    METHODS.filter((method) => operations[method]).map((method) => {
      const operation = operations[method];
      const id = `${method}${path.replace(/[^a-z0-9]+/gi, "-")}`;
      const names = (operation.parameters ?? []).map((one) => one.name);
      const body = Object.values(operation.requestBody?.content ?? {}).flatMap((one) => objectsIn(one.schema ?? {}));
      const fields = body.flatMap((shape) => Object.keys(shape.properties));
      const text = [method, path, operation.summary, operation.description, ...names, ...fields].join(" ").toLowerCase();
      return { path, method, operation, id, text, tag: operation.tags?.[0] ?? "other" };
    }),
  );
  // What people come for stands first; sorting keeps the order inside a group.
  return routes.sort((one, other) => rankOf(one.tag) - rankOf(other.tag));
}

function rankOf(tag) {
  const place = ["memory", "messages", "personas", "goals"].indexOf(tag);
  return place < 0 ? 99 : place;
}

function draw(document) {
  resolve = resolver(document);
  byId("version").textContent = document.info.version;
  byId("summary").textContent = document.info.summary ?? "";
  const routes = routesOf(document);
  for (const tag of new Set(routes.map((route) => route.tag))) {
    const own = routes.filter((route) => route.tag === tag);
    for (const route of own) {
      const badge = element("span", { class: `method ${route.method}` }, route.method);
      route.link = element("a", { href: `#${route.id}` }, badge, element("span", {}, route.path));
      route.view = routeView(route);
    }
    const title = () => element("h2", {}, tag);
    byId("contents").append(element("section", {}, title(), own.map((route) => route.link)));
    byId("reference").append(element("section", { class: "group" }, title(), own.map((route) => route.view)));
  }
  byId("status").textContent = "";
  searchIn(routes);
  follow(routes);
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
}

function searchIn(routes) {
  const field = byId("search");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const route of routes) {
      const hidden = !words.every((word) => route.text.includes(word));
      route.link.hidden = hidden;
      route.view.hidden = hidden;
    }
    for (const section of document.querySelectorAll("#contents > section, #reference > section")) {
      section.hidden = ![...section.children].some((child) => child.tagName !== "H2" && !child.hidden);
    }
    byId("status").textContent = routes.every((route) => route.view.hidden) ? "Nothing matches." : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
}

/** Mark in the list what is being read. */
function follow(routes) {
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const route = routes.find((one) => one.view === entry.target);
        route.link.classList.toggle("here", entry.isIntersecting);
      }
    },
    { rootMargin: "-10% 0px -75% 0px" },
  );
  for (const route of routes) seen.observe(route.view);
}

byId("access").addEventListener("submit", (event) => event.preventDefault());
try {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`status ${response.status}`);
  draw(await response.json());
} catch (problem) {
  byId("status").textContent = `The reference cannot be read: ${problem.message}`;
}
