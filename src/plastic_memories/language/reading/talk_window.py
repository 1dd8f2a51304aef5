"""Prepare messages for extraction: remove injected text, detect the language."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from plastic_memories.language.reading.injected_text import FENCE, echo_share
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message

_ALL = 0.999
# From our mark to its end, or to the end of the text if it was cut.
_INJECTED = regex(
    re.escape(FENCE) + r"\b.*?(?:</plastic_memories[^>]*>|\Z)", re.IGNORECASE | re.DOTALL
)


def without_injected_text(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without injected blocks; messages that become empty are left out."""
    cleaned = (
        message
        if FENCE not in message.content.lower()
        else replace(message, content=_INJECTED.sub(" ", message.content).strip())
        for message in messages
    )
    return [message for message in cleaned if message.content.strip()]


def is_injected_echo(draft: Draft, known: Set[int]) -> bool:
    """Return whether a draft's quote consists only of injected text."""
    return bool(draft.quote) and echo_share(draft.quote, known) >= _ALL
