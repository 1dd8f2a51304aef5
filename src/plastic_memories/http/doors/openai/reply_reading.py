"""What the upstream said, read from its bytes after they were passed on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from plastic_memories.http.doors.openai.chat_request import content_text

_DONE = "[DONE]"


def reply_text(body: bytes, *, streamed: bool) -> str:
    """Return the text of the first choice; nothing, if there is none that can be read.

    >>> reply_text(b'data: {"choices":[{"delta":{"content":"hi"}}]}', streamed=True)
    'hi'
    """
    if not streamed:
        return _first_choice_text(_parse_json(body.decode("utf-8", "replace")), "message")
    return "".join(_first_choice_text(_parse_json(data), "delta") for data in _stream_events(body))


def _stream_events(body: bytes) -> Iterator[str]:
    """Yield the data of each event of a stream; comments and half a last line are left out."""
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
            said = choice.get(member)
            return content_text(said.get("content")) if isinstance(said, dict) else ""
    return ""
