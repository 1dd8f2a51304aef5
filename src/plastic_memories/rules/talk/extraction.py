"""The messages of a conversation, turned into drafts about the people who wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo

from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.rules.talk.keys import slug
from plastic_memories.rules.talk.reading import drafts_in, latest, zone_of

_PRIVATE = re.compile(r"private|friend|direct|\bdm\b|c2c", re.IGNORECASE)
_MYSELF = frozenset({"", "me", "user", "我", "用户"})


def extract(talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
    """Propose drafts from what people say of themselves, in the order of the talk.

    Dates are counted from each message's own time in the user's time zone. Of two
    statements with one key the later holds. What another member of a group says is a
    fact about that member, under a key of its own: never part of the user's profile.
    """
    zone = zone_of(time_zone)
    return latest(draft for message in talk for draft in _of(message, zone))


def _of(message: Message, zone: tzinfo) -> Iterator[Draft]:
    # A bot that reads its own words back from a group is no member of it.
    if message.role is not Role.USER or _is_the_bot(message):
        return
    for draft in drafts_in(message, zone):
        yield _of_member(draft) if _is_a_member(message) else draft


def _is_the_bot(message: Message) -> bool:
    name = message.speaker.strip().casefold()
    return bool(name) and name in {message.owner.persona_id.casefold(), message.bot_id.casefold()}


def _is_a_member(message: Message) -> bool:
    """Say whether somebody else than the user speaks; in private there is nobody else."""
    name = message.speaker.strip().casefold()
    own = name in _MYSELF or name == message.owner.user_id.casefold()
    return not own and not _PRIVATE.search(message.message_type)


def _of_member(draft: Draft) -> Draft:
    kind = MemoryType.EVENT if draft.type is MemoryType.EVENT else MemoryType.FACT
    return replace(draft, type=kind, key=f"member.{slug(draft.speaker)}.{draft.key}")
