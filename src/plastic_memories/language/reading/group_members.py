"""Attribute group messages to the user, another member, or the bot itself."""

from __future__ import annotations

import re
from dataclasses import replace

from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message

_PRIVATE_MESSAGE_TYPES = regex(r"private|friend|direct|\bdm\b|c2c", re.IGNORECASE)
_BOT_NAMES = frozenset({"", "me", "user", "我", "用户"})


def is_from_bot(message: Message) -> bool:
    """Return whether a message is the bot's own, echoed by the group."""
    name = message.speaker.strip().casefold()
    return bool(name) and name in {message.owner.persona_id.casefold(), message.bot_id.casefold()}


def attribute_to_speaker(message: Message, draft: Draft) -> Draft:
    """Return a draft with its speaker; what another member says is not the user's profile."""
    attributed = replace(draft, speaker=message.speaker)
    if not _is_from_other_member(message):
        return attributed
    kind = MemoryType.EVENT if draft.type is MemoryType.EVENT else MemoryType.FACT
    return replace(attributed, type=kind, key=f"member.{slug(message.speaker)}.{draft.key}")


def _is_from_other_member(message: Message) -> bool:
    """Return whether another group member speaks; private chats have none."""
    name = message.speaker.strip().casefold()
    own = name in _BOT_NAMES or name == message.owner.user_id.casefold()
    return not own and not _PRIVATE_MESSAGE_TYPES.search(message.message_type)
