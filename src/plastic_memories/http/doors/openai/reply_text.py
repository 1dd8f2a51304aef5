"""Extract the text of a reply from the relayed bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from plastic_memories.http.doors.openai.chat_request import content_text

_DONE = "[DONE]"


def reply_text(body: bytes, *, streamed: bool) -> str:
    """Return the text of the first choice; empty if there is none or it is malformed.

    >>> reply_text(b'data: {"choices":[{"delta":{"content":"hi"}}]}', streamed=True)
    'hi'
    """
    if not streamed:
        return _first_choice_text(_parse_json(body.decode("utf-8", "replace")), "message")
    return "".join(_first_choice_text(_parse_json(data), "delta") for data in _stream_events(body))


def _stream_events(body: bytes) -> Iterator[str]:
    """Yield the data of each server-sent event; skip comments and an incomplete last line."""
    for line in body.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name == "data" and value.strip() != _DONE:
            yield value


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_choice_text(answer: Any, member: str) -> str:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            message = choice.get(member)
            return content_text(message.get("content")) if isinstance(message, dict) else ""
    return ""
