"""How much a message is worth quoting, whatever is asked."""

from __future__ import annotations

from plastic_memories.model.message import Message

_UNKNOWN = 0.5


def talk_importance(message: Message) -> float:
    """Return how likely a message says something lasting, from 0 to 1; stored with its entry.

    Nothing is known of a message yet: all are alike.
    """
    del message
    return _UNKNOWN
