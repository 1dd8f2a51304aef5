"""Find the messages in which forgotten memories are told, and those that may be about them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.language.reading.talk_window import without_injected_text
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import Draft, Memory, MemoryType, Scope
from plastic_memories.model.message import Message, Role, Span, hide_spans
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.retelling import (
    ForgottenStatement,
    forgotten_statements,
    mentioning_sentences,
    told_spans,
)

# Messages that share words with a forgotten memory: so many are compared, and read by the rules.
_MAX_COMPARED = 300
_MAX_EXTRACTED = 100
_MAX_TERMS = 48
# A reply comes soon after the message it answers.
_MAX_STEPS_TO_REPLY = 3
_EXTRACT_BATCH = 8
_MAX_MENTIONS = 20


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """A message as it was read, and the sentences of it that tell something forgotten."""

    message: Message
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence, of a message or a memory, that may be about what was forgotten."""

    text: str
    message: Message | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class CandidateMessages:
    """Messages that may tell what is forgotten, as stored."""

    statements: Sequence[ForgottenStatement]
    messages: Sequence[Message] = ()
    source_ids: Collection[int] = ()
    echo_ids: Collection[int] = ()
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ToldTalk:
    """Where forgotten memories are told: message id → what was read there."""

    told: Mapping[int, ToldMessage] = field(default_factory=dict)
    mentions: Sequence[Mention] = ()


def find_candidates(stores: Stores, owner: Owner, targets: Sequence[Memory]) -> CandidateMessages:
    """Return the messages of the owner that may tell one of the targets.

    What is true for every persona of the user was perhaps told to another one, too.
    """
    stating = [memory for memory in targets if memory.type is not MemoryType.SUMMARY]
    if not stating:
        return CandidateMessages(())
    sources = {message for memory in stating for message in memory.source_message_ids}
    found: dict[int, Message] = {}
    echoes: set[int] = set()
    for view in _views(stores, owner, stating):
        own = stores.messages.find(view.owner, MessageFilter(ids=sources)) if sources else []
        replies = {reply.id for row in own for reply in _replies(stores, view, row)}
        ids = dict.fromkeys([*(row.id for row in own), *replies, *_similar(stores, view, stating)])
        rows = {row.id: row for row in stores.messages.find(view.owner, MessageFilter(ids=ids))}
        found |= {message_id: rows[message_id] for message_id in ids if message_id in rows}
        echoes |= replies
    time_zone = stores.personas.settings(owner.user).time_zone
    return CandidateMessages(
        forgotten_statements(stating), list(found.values()), sources, echoes, time_zone
    )


async def read_candidates(judge: JudgeEngine, candidates: CandidateMessages) -> ToldTalk:
    """Return what the candidates tell, reading in small batches outside of any transaction."""
    drafts: dict[int, list[Draft]] = {}
    readable = _readable(candidates)
    for start in range(0, len(readable), _EXTRACT_BATCH):
        batch = readable[start : start + _EXTRACT_BATCH]
        drafts |= await asyncio.to_thread(_extract_each, judge, batch, candidates.time_zone)
    return await asyncio.to_thread(_compare, candidates, drafts)


def read_now(judge: JudgeEngine, candidates: CandidateMessages) -> ToldTalk:
    """Return what a few candidates tell, inside a transaction."""
    readable = _readable(candidates)
    return _compare(candidates, _extract_each(judge, readable, candidates.time_zone))


def _readable(candidates: CandidateMessages) -> list[Message]:
    return [row for row in candidates.messages if row.role is Role.USER][:_MAX_EXTRACTED]


def _extract_each(
    judge: JudgeEngine, messages: Sequence[Message], time_zone: str
) -> dict[int, list[Draft]]:
    return {
        message.id: judge.extract(without_injected_text([message]), time_zone)
        for message in messages
    }


def _compare(candidates: CandidateMessages, drafts: Mapping[int, Sequence[Draft]]) -> ToldTalk:
    told: dict[int, ToldMessage] = {}
    mentions: list[Mention] = []
    for message in candidates.messages:
        spans = told_spans(
            message.content,
            candidates.statements,
            drafts.get(message.id, ()),
            is_source=message.id in candidates.source_ids,
            is_echo=message.id in candidates.echo_ids,
        )
        if spans:
            told[message.id] = ToldMessage(message, spans)
        if message.hidden_at is None and len(mentions) < _MAX_MENTIONS:
            mentions += _mentions(message, spans, candidates.statements)
    return ToldTalk(told, mentions[:_MAX_MENTIONS])


def _mentions(
    message: Message, spans: tuple[Span, ...], statements: Sequence[ForgottenStatement]
) -> Iterator[Mention]:
    left = hide_spans(message, spans, 0.0).visible_text
    for sentence in mentioning_sentences(left, statements):
        yield Mention(sentence, message=message)


def _views(stores: Stores, owner: Owner, targets: Sequence[Memory]) -> list[Viewpoint]:
    is_shared = any(memory.scope is Scope.GLOBAL for memory in targets)
    others = [persona.owner for persona in stores.personas.all(owner.user)] if is_shared else []
    places = dict.fromkeys((memory.bot_id, memory.realm) for memory in targets)
    return [
        Viewpoint(persona, bot_id=bot_id, realm=realm)
        for persona in dict.fromkeys([owner, *others])
        for bot_id, realm in places
    ]


def _replies(stores: Stores, view: Viewpoint, message: Message) -> Iterator[Message]:
    """Yield the assistant's reply to a message."""
    here = replace(view, session_id=message.session_id)
    for _ in range(_MAX_STEPS_TO_REPLY):
        around = stores.message_search.neighbours(here, message)
        later = [row for row in around if row.id > message.id]
        if not later:
            return
        message = later[0]
        if message.role is Role.ASSISTANT:
            yield message
            return


def _similar(stores: Stores, view: Viewpoint, targets: Sequence[Memory]) -> Iterator[int]:
    """Yield the ids of messages that share words with the targets, the most similar first."""
    texts = (
        text
        for memory in targets
        for text in (memory.content, str(memory.attributes.get("value") or ""), _key_words(memory))
    )
    terms = dict.fromkeys(term for text in texts for term in query_terms(text))
    found = stores.message_search.search(view, list(terms)[:_MAX_TERMS], _MAX_COMPARED)
    yield from (row.id for row in found)


def _key_words(memory: Memory) -> str:
    """Return the last part of a key: it names the value in English, whatever was said."""
    return memory.key.rpartition(".")[2].replace("_", " ")
