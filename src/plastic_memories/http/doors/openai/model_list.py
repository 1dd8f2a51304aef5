"""The upstream's models, and each of them once more for every persona."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plastic_memories.http.doors.openai.json_splice import apply_edits, object_members, to_json

# A longer list helps nobody to choose; then personas are named in the model's place by hand.
_MAX_MODELS = 200


def with_personas(body: bytes, personas: Sequence[str]) -> bytes:
    """Return a list of models with `persona@model` at its end; as it came, if it is no such list.

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
