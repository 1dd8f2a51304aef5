"""Who could hear a message, and who may be told it again."""

from __future__ import annotations

import re
from functools import lru_cache

from plastic_memories.language.gate.gated_drafts import UNREAD
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.entry import Audience, Listener, TalkVisibility
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import Message, Role

_PRIVATE = regex(r"private|friend|direct|\bdm\b|c2c", re.IGNORECASE)
_GROUP = regex(r"group|guild|channel|room|discuss", re.IGNORECASE)
# Words of the assistant in a private session belong to nobody who could hear them elsewhere.
ASSISTANT = "\x00assistant"
INDEXED_ROLES = frozenset({Role.USER, Role.ASSISTANT})


@lru_cache(maxsize=1024)
def audience_of(message_type: str) -> Audience:
    """Return the audience that a caller's message type or session address names.

    >>> audience_of("FriendMessage"), audience_of("group"), audience_of("text").value
    (<Audience.PRIVATE: 'private'>, <Audience.GROUP: 'group'>, '')
    """
    if _PRIVATE.search(message_type):
        return Audience.PRIVATE
    return Audience.GROUP if _GROUP.search(message_type) else Audience.UNKNOWN


def talk_visibility(message: Message) -> TalkVisibility:
    """Return who may be told a message again."""
    audience = audience_of(message.message_type)
    where = (message.bot_id, message.realm, message.source_app, audience)
    if audience is not Audience.PRIVATE:
        return TalkVisibility(*where)
    is_own = message.role is Role.ASSISTANT
    return TalkVisibility(*where, message.session_id, ASSISTANT if is_own else message.speaker)


def may_be_retold(memory: Memory, listener: Listener) -> bool:
    """Return whether a listener may be told a memory.

    Summaries and notes repeat what somebody said. In a group, only what was said in groups is
    repeated.
    """
    repeats = memory.type is MemoryType.SUMMARY or memory.key.startswith(UNREAD)
    if listener.audience is not Audience.GROUP or not repeats or not memory.session_id:
        return True
    is_here = memory.session_id == listener.view.session_id
    return is_here or audience_of(memory.session_id) is Audience.GROUP


def hears(listener: Listener, message: Message) -> bool:
    """Return whether a listener may be told a message again."""
    return talk_visibility(message).is_visible_from(listener)
