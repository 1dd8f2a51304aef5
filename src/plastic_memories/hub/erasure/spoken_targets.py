"""What a request to forget that was made in the chat means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.language.corrections.forget_requests import (
    SpokenForgetRequest,
    find_forget_request,
    names_topic,
    shares_a_character,
)
from plastic_memories.language.reading.group_members import is_from_bot
from plastic_memories.language.reading.talk_window import without_injected_text
from plastic_memories.language.text.sentences import sentence_spans
from plastic_memories.language.text.tokens import content_terms
from plastic_memories.model.message import Message, Role, Span
from plastic_memories.model.owner import Realm
from plastic_memories.model.session import conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter

# What was said just before was said within this time; what is named, within some days.
_JUST_BEFORE_S = 3600.0
_NAMED_S = 7 * 86_400.0
_MAX_SEARCHED = 100
# "哈哈" between a statement and the request is not what is meant.
_MAX_SKIPPED = 2
_MIN_TERMS = 1
_MAX_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class SpokenTarget:
    """Sentences of one message that a request may mean."""

    message: Message  # as stored
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(self.message.content[start:end] for start, end in self.spans).strip()


@dataclass(frozen=True, slots=True)
class SpokenTargets:
    """A request, and what it means; if that is not plain, what it may mean."""

    message: Message  # the request, as stored
    request: SpokenForgetRequest
    found: Sequence[SpokenTarget] = ()
    is_plain: bool = True


def may_ask(message: Message) -> bool:
    """Return whether a message is a user's own words, and asks to forget something."""
    if message.role is not Role.USER or is_from_bot(message):
        return False
    if message.realm not in (Realm.REAL, Realm.OOC):
        return False
    return _own_request(message) is not None


def find_targets_of_request(stores: Stores, message: Message) -> SpokenTargets | None:
    """Return what a message asks to forget; None if it asks nothing, or was carried out before."""
    rows = stores.messages.find(message.owner, MessageFilter(ids=[message.id], hidden=False))
    request = _own_request(rows[0]) if rows else None
    if request is None or stores.pending_forgets.find(message.owner, message_id=message.id):
        return None
    asking = rows[0]
    if request.topic:
        return _named_targets(stores, asking, request)
    before = _spans_before(asking, request)
    if before:
        return SpokenTargets(asking, request, [SpokenTarget(asking, (before[-1],))])
    return _last_target(stores, asking, request)


def _own_request(message: Message) -> SpokenForgetRequest | None:
    """Return the request of a message, unless it is hidden or the hub's own injected text."""
    request = find_forget_request(message.content)
    if request is None or _is_hidden(message, request.span):
        return None
    words = message.content[slice(*request.span)].strip()
    return (
        request if any(words in one.content for one in without_injected_text([message])) else None
    )


def _last_target(stores: Stores, asking: Message, request: SpokenForgetRequest) -> SpokenTargets:
    """Return the last message of the speaker that says something."""
    earlier = _earlier_messages(stores, asking)[: _MAX_SKIPPED + 1]
    meant = next((row for row in earlier if _says_something(row.visible_text)), None)
    if meant is None:
        return SpokenTargets(asking, request)
    is_recent = asking.ts - meant.ts <= _JUST_BEFORE_S
    return SpokenTargets(
        asking, request, [SpokenTarget(meant, ((0, len(meant.content)),))], is_plain=is_recent
    )


def _named_targets(stores: Stores, asking: Message, request: SpokenForgetRequest) -> SpokenTargets:
    """Return the statements that a topic names, newest first; plain if they are in one message."""
    found = [
        SpokenTarget(row, spans)
        for row in [asking, *_earlier_messages(stores, asking)]
        if asking.ts - row.ts <= _NAMED_S
        and (spans := _naming_spans(row, request, only_before=row.id == asking.id))
    ]
    if not found:
        last = _last_target(stores, asking, request)
        said = [one.message.visible_text for one in last.found]
        if last.is_plain and any(shares_a_character(request.topic, text) for text in said):
            return last
    return SpokenTargets(asking, request, found[:_MAX_QUESTIONS], is_plain=len(found) <= 1)


def _naming_spans(
    message: Message, request: SpokenForgetRequest, *, only_before: bool
) -> tuple[Span, ...]:
    spans = _spans_before(message, request) if only_before else sentence_spans(message.content)
    return tuple(
        span
        for span in spans
        if not _is_hidden(message, span)
        and names_topic(request.topic, message.content[slice(*span)])
    )


def _spans_before(message: Message, request: SpokenForgetRequest) -> list[Span]:
    """Return the visible sentences of a message before its request that say something."""
    return [
        span
        for span in sentence_spans(message.content)
        if span[1] <= request.span[0]
        and not _is_hidden(message, span)
        and _says_something(message.content[slice(*span)])
    ]


def _earlier_messages(stores: Stores, asking: Message) -> list[Message]:
    """Return what the same speaker has said before in this conversation, newest first."""
    wanted = MessageFilter(
        session_id=asking.session_id,
        source_app=asking.source_app,
        bot_id=asking.bot_id,
        before_id=asking.id,
        hidden=False,
        limit=_MAX_SEARCHED,
    )
    place = conversation_of(asking)
    return [
        row
        for row in stores.messages.find(asking.owner, wanted)
        if row.role is Role.USER
        and row.speaker == asking.speaker
        and conversation_of(row) == place
        and find_forget_request(row.content) is None
    ]


def _is_hidden(message: Message, span: Span) -> bool:
    return any(start < span[1] and span[0] < end for start, end in message.hidden_spans)


def _says_something(text: str) -> bool:
    return len(set(content_terms(text))) >= _MIN_TERMS


def as_statement_of(target: SpokenTarget) -> Message:
    """Return the meant sentences as a message of their own."""
    return replace(target.message, content=target.text, hidden_spans=(), hidden_at=None)
