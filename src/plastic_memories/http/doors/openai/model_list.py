"""Add `persona@model` entries to the upstream's model list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plastic_memories.http.doors.openai.json_splice import apply_edits, object_members, to_json

# A longer list is no help in choosing; type `persona@model` by hand instead.
_MAX_MODELS = 200


def with_personas(body: bytes, personas: Sequence[str]) -> bytes:
    """Return a model list with `persona@model` entries appended; unchanged if it is not a list.

    >>> with_personas(b'{"data":[{"id":"m"}]}', ["小雨"]).decode()
    '{"data":[{"id":"m"},{"id": "小雨@m"}]}'
    """
    try:
        text = body.decode()
        data = next((part for part in object_members(text) if part.key == "data"), None)
    except ValueError:
        return body
    if data is None or not _are_models(data.value):
        return body
    new = [
        {**model, "id": f"{persona}@{model['id']}"} for persona in personas for model in data.value
    ]
    if not new or len(new) > _MAX_MODELS:
        return body
    last = data.end - 1
    more = ",".join(map(to_json, new))
    return apply_edits(text, [(last, last, f",{more}")]).encode("utf-8", "replace")


def _are_models(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("id"), str) for one in value
    )
