"""How much a message is worth quoting, whatever is asked."""

from __future__ import annotations

from plastic_memories.language.gate.decision import lasting_score
from plastic_memories.model.message import Message, Role

# What the assistant says of the user repeats the user at best.
_ASSISTANT_SHARE = 0.3


def talk_importance(message: Message) -> float:
    """Return how likely a message says something lasting, from 0 to 1; stored with its entry."""
    score = lasting_score(message.visible_text)
    return score if message.role is Role.USER else score * _ASSISTANT_SHARE
