"""Carry out "forget that", said in the chat: hide it at once, forget it for good a day later."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import Conflict
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.erasure.spoken_targets import (
    SpokenTarget,
    SpokenTargets,
    as_statement_of,
    find_targets_of_request,
    may_ask,
)
from plastic_memories.hub.erasure.telling_messages import (
    CandidateMessages,
    ToldMessage,
    find_candidates,
    read_candidates,
)
from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.learn import restore_previous
from plastic_memories.hub.memories.review import ReviewOutcome
from plastic_memories.hub.memories.write import write_in_transaction
from plastic_memories.hub.transactions.audit_events import (
    hub_caller,
    record_event,
    record_memory,
)
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import refresh_slot, visible_memory
from plastic_memories.language.corrections.forget_requests import SpokenForgetRequest
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.message import (
    Message,
    PendingForget,
    PendingStatus,
    Role,
    Span,
    hide_spans,
)
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import conversation_of
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.retelling import (
    ForgottenStatement,
    shares_words,
    without_told_sentences,
)
from plastic_memories.rules.lifecycle.transitions import end_memory, memory_from_draft

# A request can be undone for a day.
UNDO_S = 86_400.0
# Keys of the questions that wait in the inbox.
QUESTION_PREFIX = "forget_request."
_MAX_ATTEMPTS = 5
# The request of an answer in the inbox: no sentence of the talk.
_ANSWERED = SpokenForgetRequest((0, 0))


class _TalkMoved(Conflict):
    """What was to be hidden has changed while it was being read."""


@dataclass(frozen=True, slots=True)
class ForgetOnRequest:
    storage: AuditedStorage
    judge: JudgeEngine
    timeline: ConversationTimeline

    async def __call__(self, messages: Sequence[Message]) -> list[PendingForget]:
        """Carry out the requests among new messages; return what was hidden. Twice is as once."""
        asking = [message for message in messages if may_ask(message)]
        hidden = [await self._hide_or_ask(message) for message in asking]
        return [pending for pending in hidden if pending is not None]

    async def answer_question(
        self, caller: Caller, view: Viewpoint, memory_id: int
    ) -> ReviewOutcome:
        """Forget what a question in the inbox asks about; the question goes with it."""
        question = await self.storage.read(lambda stores: visible_memory(stores, view, memory_id))
        targets = await self.storage.read(lambda stores: _asked_target(stores, question))
        if targets is not None:
            await self._hide(targets)
        now = self.storage.clock.now()

        def work(stores: Stores) -> None:
            stores.memories.erase(view.owner, [memory_id], now)
            record_memory(stores, caller, "memory.confirm", question, now)

        await self.storage.write(work)
        return ReviewOutcome(replace(question, status=Status.REVOKED), updated=True)

    async def _hide_or_ask(self, message: Message) -> PendingForget | None:
        targets = await self.storage.read(lambda stores: find_targets_of_request(stores, message))
        if targets is None or not targets.found:
            return None
        if targets.is_plain or await self._is_one_statement(targets):
            newest = replace(targets, found=targets.found[:1], is_plain=True)
            return await self._hide(newest)
        await self.storage.write(lambda stores: self._ask(stores, targets))
        return None

    async def _is_one_statement(self, targets: SpokenTargets) -> bool:
        """Return whether all that may be meant tells the same, so that hiding one hides all."""
        if not targets.request.topic:
            return False
        told, _ = await self._told_with(targets.found[0])
        return all(one.message.id in told for one in targets.found)

    async def _told_with(
        self, target: SpokenTarget
    ) -> tuple[dict[int, ToldMessage], Sequence[ForgottenStatement]]:
        """Return the messages that tell a target, by id, and what it states.

        They are the speaker's own, and replies.
        """
        candidates = await self._candidates(target)
        talk = await read_candidates(self.judge, candidates)
        speaker = target.message.speaker
        told = {
            message_id: one
            for message_id, one in talk.told.items()
            if one.message.role is Role.ASSISTANT
            or (one.message.role is Role.USER and one.message.speaker == speaker)
        }
        told[target.message.id] = ToldMessage(target.message, target.spans)
        return told, candidates.statements

    async def _candidates(self, target: SpokenTarget) -> CandidateMessages:
        time_zone = await self.storage.read(
            lambda stores: stores.personas.settings(target.message.owner.user).time_zone
        )
        said = as_statement_of(target)
        drafts = await asyncio.to_thread(self.judge.extract, [said], time_zone)
        now, owner = self.storage.clock.now(), target.message.owner
        meant = [memory_from_draft(owner, one, now) for one in [_verbatim(said), *drafts]]
        return await self.storage.read(lambda stores: find_candidates(stores, owner, meant))

    async def _hide(self, targets: SpokenTargets) -> PendingForget:
        target = targets.found[0]
        for attempt in range(_MAX_ATTEMPTS):
            told, statements = await self._told_with(target)
            work = partial(
                self._hide_in_transaction,
                targets=targets,
                told=list(told.values()),
                statements=statements,
            )
            try:
                return await self.storage.write(work)
            except _TalkMoved:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _hide_in_transaction(
        self,
        stores: Stores,
        targets: SpokenTargets,
        told: Sequence[ToldMessage],
        statements: Sequence[ForgottenStatement],
    ) -> PendingForget:
        asking, owner, now = targets.message, targets.message.owner, self.storage.clock.now()
        known = stores.pending_forgets.find(owner, message_id=asking.id)
        if known and targets.request is not _ANSWERED:
            return known[0]
        hidden = _hide_told(stores, told, now)
        _hide_request(stores, targets, now)
        pending = PendingForget(
            owner=owner,
            message_id=asking.id,
            requested_at=now,
            final_at=now + UNDO_S,
            hidden=hidden,
        )
        pending = _revoke_learned(stores, pending, statements, now)
        self._rewrite_summaries(stores, pending, now)
        stored = stores.pending_forgets.add(pending)
        sessions = [
            session
            for place in {conversation_of(one.message) for one in told}
            for session in stores.sessions.find(place.owner, session_id=place.session_id)
            if session.place == place
        ]
        queue_archiving(stores, sessions, now, self.timeline.formation)
        _record_request(stores, asking, stored, now)
        return stored

    def _rewrite_summaries(self, stores: Stores, pending: PendingForget, now: float) -> None:
        """Write the summaries that were revoked again, from what is left."""
        for memory_id in pending.revoked:
            row = stores.memories.get(pending.owner, memory_id)
            if row is None or row.type is not MemoryType.SUMMARY:
                continue
            found = stores.sessions.find(
                row.owner,
                session_id=row.session_id,
                bot_id=row.bot_id,
                source_app=row.source_app,
                branch_id=row.branch_id,
            )
            for session in found[:1]:
                self.timeline.rewrite_summaries(stores, session, [row], (), now)

    def _ask(self, stores: Stores, targets: SpokenTargets) -> None:
        """Put a question into the inbox for each statement that may be meant."""
        asking, now = targets.message, self.storage.clock.now()
        owner, hub = asking.owner, hub_caller(asking.owner.user)
        if stores.pending_forgets.find(owner, message_id=asking.id):
            return
        for target in targets.found:
            write_in_transaction(stores, hub, owner, _question(targets, target), now)
        pending = PendingForget(
            owner=owner,
            message_id=asking.id,
            requested_at=now,
            final_at=now,
            status=PendingStatus.ASKED,
        )
        stores.pending_forgets.add(pending)
        _hide_request(stores, targets, now)


def _verbatim(said: Message) -> Draft:
    return Draft(
        type=MemoryType.NOTE,
        key="said",
        content=said.content,
        quote=said.content,
        realm=said.realm,
        bot_id=said.bot_id,
        source_message_ids=(said.id,),
    )


def _question(targets: SpokenTargets, target: SpokenTarget) -> Draft:
    asking, said = targets.message, target.message
    return Draft(
        type=MemoryType.NOTE,
        key=f"{QUESTION_PREFIX}{asking.id}.{said.id}",
        content=f"要忘掉这句话吗？Forget this? “{target.text}”",
        # What is inferred waits for a yes.
        source_type=SourceType.MODEL_INFERRED,
        source_app=said.source_app,
        bot_id=said.bot_id,
        session_id=said.session_id,
        branch_id=said.branch_id,
        source_message_ids=(said.id,),
        attributes={
            "request_id": asking.id,
            "message_id": said.id,
            "spans": [list(span) for span in target.spans],
        },
    )


def _asked_target(stores: Stores, question: Memory) -> SpokenTargets | None:
    """Return what a question asks about; None if that message is gone."""
    ids = (question.attributes["message_id"], question.attributes["request_id"])
    rows = {row.id: row for row in stores.messages.find(question.owner, MessageFilter(ids=ids))}
    said = rows.get(ids[0])
    if said is None or question.status is not Status.CANDIDATE:
        return None
    spans = tuple((int(start), int(end)) for start, end in question.attributes["spans"])
    asking = rows.get(ids[1], said)
    return SpokenTargets(asking, _ANSWERED, [SpokenTarget(said, spans)])


def _hide_told(
    stores: Stores, told: Sequence[ToldMessage], now: float
) -> dict[int, tuple[Span, ...]]:
    """Hide what tells it; return what was not hidden before, by message."""
    hidden: dict[int, tuple[Span, ...]] = {}
    for one in told:
        for row in stores.messages.find(one.message.owner, MessageFilter(ids=[one.message.id])):
            if row.content != one.message.content:
                raise _TalkMoved("edited meanwhile")
            new = tuple(span for span in one.spans if span not in row.hidden_spans)
            if new and stores.messages.set_visibility([hide_spans(row, new, now)]):
                hidden[row.id] = new
    return hidden


def _hide_request(stores: Stores, targets: SpokenTargets, now: float) -> None:
    """Hide the request itself: it names what is to be forgotten."""
    asking = targets.message
    for row in stores.messages.find(asking.owner, MessageFilter(ids=[asking.id])):
        stores.messages.set_visibility([hide_spans(row, [targets.request.span], now)])


def _revoke_learned(
    stores: Stores,
    pending: PendingForget,
    statements: Sequence[ForgottenStatement],
    now: float,
) -> PendingForget:
    """Revoke what was learned from the hidden sentences; earlier values hold again."""
    hub, owner = hub_caller(pending.owner.user), pending.owner
    revoked: dict[int, str] = {}
    restored: list[int] = []
    learned = MemoryFilter(
        statuses={Status.ACTIVE, Status.CANDIDATE}, source_message_ids=set(pending.hidden)
    )
    for row in stores.memories.find(owner, learned) if pending.hidden else ():
        if not _is_told(stores, row, statements):
            continue
        revoked[row.id] = row.status.value
        ended = end_memory(row, now)
        stores.memories.save(ended)
        refresh_slot(stores, hub, ended, now)
        record_memory(stores, hub, "memory.revoke", ended, now)
        if row.status is Status.ACTIVE and row.type is not MemoryType.SUMMARY:
            previous = restore_previous(stores, hub, ended, now)
            restored += [previous.id] if previous else []
    return replace(pending, revoked=revoked, restored=tuple(restored))


def _is_told(stores: Stores, row: Memory, statements: Sequence[ForgottenStatement]) -> bool:
    """Return whether a memory rests on hidden sentences alone, or is a summary with their words."""
    if row.type is MemoryType.SUMMARY:
        return bool(row.attributes.get("total_tokens")) or shares_words(row.content, statements)
    if row.quote:
        wanted = MessageFilter(ids=row.source_message_ids)
        left = stores.messages.find(row.owner, wanted)
        return not any(row.quote in message.visible_text for message in left)
    return without_told_sentences(row.content, statements) != row.content


def _record_request(stores: Stores, asking: Message, stored: PendingForget, now: float) -> None:
    record_event(
        stores,
        hub_caller(asking.owner.user),
        "memory.forget_request",
        asking.owner.persona_id,
        now,
        forget_id=stored.id,
        message_id=asking.id,
        memory_ids=sorted(stored.revoked),
        message_ids=sorted(stored.hidden),
        final_at=stored.final_at,
        source_app=asking.source_app,
    )
