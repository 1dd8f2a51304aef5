"""The reference of the routes, from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from docs.generator.markdown import GENERATED, code, pages, table
from docs.generator.openapi import openapi
from docs.generator.schema import Schema, fields, kind, name_of, resolve, variants

_INTRODUCTION = """# Routes

Base address `http://127.0.0.1:8007`, JSON in UTF-8. The same reference, for the version that
runs, stands at `/docs` of every hub, and the OpenAPI document at `/openapi.json`.

- **Key.** Header `X-API-Key`; `Authorization: Bearer …` and `Authorization: Token …` are the
  same thing. An app key names its user in `X-User-Id`. Routes that need no key say so.
- **Success** is `{"ok": true, "request_id": "…", "data": {…}}`; the tables below describe `data`.
- **Failure** is `{"ok": false, "request_id": "…", "error": {"code": "…", "message": "…",
  "detail": …}}`; the codes are in [errors](errors.md). Every route may answer with them.
- **Request id.** `X-Request-Id` is echoed, or made, in the header and in the body.
- Fields that a hub does not know are ignored, so that newer clients can speak to older hubs.
- Times are epoch seconds in UTC. Ids are integers.

Pages for people, without a key: `GET /` (what this is), `GET /docs`, `GET /openapi.json`."""

_EVENTS = """## events

### `WS /ws/events`

Follow what changes in the memories of one's own user. The key comes in a header, or in the
first frame:

```json
{"type": "auth", "api_key": "…", "persona_id": "p1", "resume_from": 120}
```

`persona_id` (only this persona) and `resume_from` (the last id that was seen; what was missed
since is sent first) may also stand in the query string; an app key adds `user_id` to the frame,
or `X-User-Id` to the header. From the moment of connecting on, each change is one frame:

```json
{"id": 121, "event": "memory.write", "ts": 1794772598.66, "request_id": "…", "persona_id": "p1",
 "data": {"memory_id": 7, "type": "fact", "status": "active"}}
```

Frames carry ids, never the text of a memory. Pings are those of the WebSocket protocol. A
listener that is too slow is closed with 4408 and comes back with `resume_from`; see
[errors](errors.md) for the other codes. `PLASTIC_MEMORIES_EVENTS=none` switches the stream off."""


def page() -> str:
    """Return the whole page."""
    by_tag = groupby(sorted(_operations(), key=_order), key=lambda found: found[2]["tags"][0])
    sections = [
        "\n\n".join([f"## {tag}", *(_operation(*found) for found in group)])
        for tag, group in by_tag
    ]
    shapes = "## Shapes\n\n" + "\n\n".join(_shapes())
    return pages(GENERATED, _INTRODUCTION, *sections, _EVENTS, shapes)


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in openapi()["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def _order(found: tuple[str, str, dict[str, Any]]) -> tuple[int, int]:
    tags = ["memory", "messages", "formation", "personas", "goals", "operations", "openai"]
    return tags.index(found[2]["tags"][0]), list(openapi()["paths"]).index(found[0])


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [f"### `{method} {path}`", operation.get("description", "")]
    if not operation.get("security"):
        parts.append("No key needed.")
    if path == "/metrics":
        parts.append("The key may be left out with `PLASTIC_MEMORIES_METRICS_PUBLIC=1`.")
    parts += [*_parameters(operation), *_body(operation), *_answer(operation)]
    return "\n\n".join(part for part in parts if part)


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    found = [part for part in operation.get("parameters", ()) if part["in"] == "query"]
    if found:
        rows = (_parameter(part) for part in found)
        yield table(["query", "what", "default"], rows)


def _parameter(part: dict[str, Any]) -> list[str]:
    default = part["schema"].get("default")
    mark = "**required**" if part.get("required") else code("" if default is None else str(default))
    return [f"`{part['name']}`", kind(part["schema"]), mark]


def _body(operation: dict[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        if content:
            yield "Body: " + " or ".join(f"`{name}`" for name in content) + "."
        return
    schema = content["application/json"]["schema"]
    shapes = [resolve(part) for part in schema.get("oneOf", ())] or [resolve(schema)]
    for number, shape in enumerate(shapes):
        if number:
            yield "or"
        yield shape.get("description", "")
        yield table(["body", "what", "default"], (field.row for field in fields(shape)))


def _answer(operation: dict[str, Any]) -> Iterator[str]:
    content = operation["responses"]["200"].get("content", {})
    if "application/json" not in content or not content["application/json"].get("schema"):
        yield "Answer: " + " or ".join(f"`{name}`" for name in content) + ", not enveloped."
        return
    answer = resolve(content["application/json"]["schema"])
    data = answer.get("properties", {}).get("data")
    if data is None:
        yield "Answer: " + " or ".join(f"`{name}`" for name in content) + ", not enveloped."
        return
    for shape in variants(data):
        names = ", ".join(f"`{field.name}`" for field in fields(shape))
        yield f"Data ([{shape['title']}](#{shape['title'].lower()})): {names}."


def _bodies() -> Iterator[str]:
    for _, _, operation in _operations():
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        yield from (name_of(part) for part in [schema, *schema.get("oneOf", ())])


def _shapes() -> Iterator[str]:
    """Describe every shape that is not shown with its route."""
    shown = set(_bodies())
    for name, shape in sorted(openapi()["components"]["schemas"].items()):
        if name.startswith("Answer_") or name in shown:
            continue
        lines = [f"### {name}", shape.get("description", "")]
        if "enum" in shape:
            lines.append(", ".join(f"`{value}`" for value in shape["enum"]))
        else:
            lines.append(
                table(["field", "what"], (_shape_row(shape, field.name) for field in fields(shape)))
            )
        yield "\n\n".join(line for line in lines if line)


def _shape_row(shape: Schema, name: str) -> list[str]:
    part = shape["properties"][name]
    empty = any(choice.get("type") == "null" for choice in part.get("anyOf", ()))
    return [f"`{name}`", kind(part) + (" or null" if empty else "")]
