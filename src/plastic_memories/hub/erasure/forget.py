"""Forget memories for good: erase the rows and all derived data, and return a receipt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import Conflict, InvalidInput
from plastic_memories.formats.card_memories import is_from_card
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.erasure.forget_targets import (
    ForgetRequest,
    QueryMatches,
    find_targets,
    match_query,
    with_versions,
)
from plastic_memories.hub.erasure.hide_talk import (
    cut_other_memories,
    drop_hidden_quotes,
    hide_messages,
    rewrite_summaries,
    telling_summaries,
)
from plastic_memories.hub.erasure.receipts import also_mentions, forget_receipt, mention_row
from plastic_memories.hub.erasure.telling_messages import (
    CandidateMessages,
    Mention,
    ToldMessage,
    ToldTalk,
    find_candidates,
    read_candidates,
    read_now,
)
from plastic_memories.hub.formation.archiving import ArchiveConversation, queue_archiving
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import pending_in, scrub
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.transactions.audit_events import app_of, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Session, conversation_of
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.tombstones import tombstone_digests
from plastic_memories.rules.lifecycle.user_facts import home_of

__all__ = ["ForgetMemory", "ForgetOutcome", "ForgetRequest"]

_MAX_ATTEMPTS = 5
# Messages that came while the others were being read: so many are read inside the transaction.
_MAX_LATE = 20


class _TalkChanged(Conflict):
    """What was to be hidden has changed while it was being read."""


@dataclass(frozen=True, slots=True)
class ForgetOutcome:
    memory_ids: Sequence[int]
    receipt: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _ForgetPlan:
    """What is to be forgotten, as it was read: it holds only as long as nothing of it changes."""

    targets: Sequence[Memory]
    candidates: CandidateMessages
    talk: ToldTalk
    upto: int  # id of the newest message when it was made
    others: Sequence[Memory] = ()  # what a query may also mean


@dataclass(frozen=True, slots=True)
class _Erasure:
    outcome: ForgetOutcome
    gone: Sequence[Memory]
    archived: Sequence[Session]


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    storage: AuditedStorage
    archive: ArchiveConversation
    exports: ExportFiles
    pages: ForgetInPages
    judge: JudgeEngine
    timeline: ConversationTimeline

    async def __call__(
        self, caller: Caller, view: Viewpoint, request: ForgetRequest
    ) -> ForgetOutcome:
        """Erase memories with all versions and derived data; a dry run only returns their ids.

        Every sentence that tells one of them is hidden in the same transaction.
        """
        named = bool(request.memory_ids) or request.type is not None
        if not named and not request.dry_run:
            raise InvalidInput(
                "Forgetting by query needs dry_run: look first, then send the memory_ids."
            )
        for attempt in range(_MAX_ATTEMPTS):
            plan = await self._plan(view, request)
            if request.dry_run:
                return _preview(plan)
            try:
                return await self._carry_out(caller, view, request, plan)
            except _TalkChanged:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _plan(self, view: Viewpoint, request: ForgetRequest) -> _ForgetPlan:
        now = self.storage.clock.now()

        def work(stores: Stores) -> tuple[list[Memory], CandidateMessages, int, Sequence[Memory]]:
            if request.query is not None and request.dry_run:
                matches = match_query(stores, view, request.query, now)
            else:
                matches = QueryMatches(find_targets(stores, view, request), ())
            targets = with_versions(stores, view, matches.meant)
            newest = stores.messages.find(view.owner, MessageFilter(limit=1))
            upto = newest[0].id if newest else 0
            meant = targets if not request.dry_run else list(matches.meant)
            return meant, find_candidates(stores, view.owner, targets), upto, matches.others

        targets, candidates, upto, others = await self.storage.read(work)
        talk = await read_candidates(self.judge, candidates)
        return _ForgetPlan(targets, candidates, talk, upto, others)

    async def _carry_out(
        self, caller: Caller, view: Viewpoint, request: ForgetRequest, plan: _ForgetPlan
    ) -> ForgetOutcome:
        now = self.storage.clock.now()

        def work(stores: Stores) -> _Erasure:
            return self._erase(stores, caller, view, request, plan)

        done, exports = await self.exports.write_and_refresh(view.owner, work)
        files = await self.archive.forget(
            [(session.owner, session.id) for session in done.archived]
        )
        pages = await self.pages(view.owner, done.gone)
        copies = {"archive": files, "exports": exports, **pages}
        residue = await scrub(self.storage, view.owner, self.archive.options)
        receipt = done.outcome.receipt
        pending = [*receipt.get("pending", ()), *pending_in(copies, residue)]
        elsewhere = [*receipt.get("elsewhere", ()), *residue.kept]
        if pending:
            self.timeline.wakeup.notify()
        return ForgetOutcome(
            done.outcome.memory_ids,
            {**receipt, **copies, "pending": pending, "elsewhere": elsewhere, "forgotten_at": now},
        )

    def _erase(
        self,
        stores: Stores,
        caller: Caller,
        view: Viewpoint,
        request: ForgetRequest,
        plan: _ForgetPlan,
    ) -> _Erasure:
        now = self.storage.clock.now()
        targets = with_versions(stores, view, find_targets(stores, view, request))
        _check_same_targets(plan.targets, targets)
        told = self._told_now(stores, view, plan)
        if request.never_again:
            _add_tombstones(stores, view, request, targets, now)
        statements = plan.candidates.statements
        ids = {one.message.id for one in told}
        summaries = _others(targets, telling_summaries(stores, view, statements, ids, now))
        known = {row.id for row in (*targets, *summaries)}
        repeats = cut_other_memories(stores, view.owner, statements, ids, known)
        gone = [*targets, *summaries, *repeats]
        _erase_rows(stores, caller, view, gone, now)
        _record_pruned_sources(stores, view, targets, now)
        talk = hide_messages(stores, told, now, erase=request.include_messages)
        talk.checked_messages = len(plan.candidates.messages)
        drop_hidden_quotes(stores, {one.message.owner for one in told}, ids, now)
        rewrite_summaries(stores, self.timeline, summaries, talk, now)
        for memory in targets:
            record_event(
                stores, caller, "memory.forget", view.owner.persona_id, now,
                memory_id=memory.id, **app_of(memory),
            )  # fmt: skip
        receipt: dict[str, Any] = {}
        if request.receipt:
            receipt = forget_receipt(stores, view, gone, talk, request, now)
            mentions = plan.talk.mentions
            about = also_mentions(stores, view, statements, mentions, gone, now)
            receipt["also_mentions"] = about
        receipt["pending"] = ["summaries"] * bool(talk.reread_jobs)
        sessions = _sessions_of_talk(stores, view, gone, [one.message for one in told])
        archived = queue_archiving(stores, sessions, now, self.archive.options)
        return _Erasure(ForgetOutcome([row.id for row in targets], receipt), gone, archived)

    def _told_now(self, stores: Stores, view: Viewpoint, plan: _ForgetPlan) -> list[ToldMessage]:
        """Return the told messages as they are stored now, and those that came meanwhile.

        Raise `_TalkChanged` if one was edited since it was read.
        """
        told: list[ToldMessage] = []
        for read in plan.talk.told.values():
            wanted = MessageFilter(ids=[read.message.id])
            for row in stores.messages.find(read.message.owner, wanted):
                if row.content != read.message.content:
                    raise _TalkChanged("edited meanwhile")
                told.append(ToldMessage(row, read.spans))
        late = stores.messages.find(view.owner, MessageFilter(limit=_MAX_LATE))
        new = [row for row in late if row.id > plan.upto]
        if new and plan.candidates.statements:
            candidates = plan.candidates
            since = CandidateMessages(
                candidates.statements, new, candidates.source_ids, (), candidates.time_zone
            )
            told += read_now(self.judge, since).told.values()
        return told


def _preview(plan: _ForgetPlan) -> ForgetOutcome:
    others = [Mention(row.content, memory=row) for row in plan.others]
    return ForgetOutcome(
        [memory.id for memory in plan.targets],
        {
            "dry_run": True,
            "would_forget": len(plan.targets),
            "would_hide": {
                "messages": len(plan.talk.told),
                "sentences": sum(len(one.spans) for one in plan.talk.told.values()),
            },
            "also_mentions": [mention_row(one) for one in (*plan.talk.mentions, *others)],
        },
    )


def _check_same_targets(planned: Sequence[Memory], now_there: Sequence[Memory]) -> None:
    def state(rows: Sequence[Memory]) -> list[tuple[object, ...]]:
        return [(row.id, row.content, row.source_message_ids) for row in rows]

    if state(planned) != state(now_there):
        raise _TalkChanged("learned or changed meanwhile")


def _others(targets: Sequence[Memory], found: Sequence[Memory]) -> list[Memory]:
    known = {memory.id for memory in targets}
    return [row for row in found if row.id not in known]


def _erase_rows(
    stores: Stores, caller: Caller, view: Viewpoint, gone: Sequence[Memory], now: float
) -> None:
    stores.memories.erase(view.owner, [memory.id for memory in gone], now)
    for memory in gone:
        refresh_slot(stores, caller, memory, now)
    # The card of an erased row repeats its text: it is dropped, and can be rebuilt from the rest.
    if any(is_from_card(memory) for memory in gone):
        stores.cards.drop(view.owner)


def _add_tombstones(
    stores: Stores,
    view: Viewpoint,
    request: ForgetRequest,
    targets: Sequence[Memory],
    now: float,
) -> None:
    """Keep the targets from being learned again; or a profile key that has no memory yet."""
    marked: Collection[Memory | Draft] = targets
    if not targets and request.type is MemoryType.PROFILE:
        marked = [Draft(type=request.type, key=request.key or "", content="")]
    for memory in marked:
        marks = tombstone_digests(stores.tombstones.secret(), view.owner, memory)
        stores.tombstones.add(home_of(view.owner, memory), marks, now)


def _record_pruned_sources(
    stores: Stores, view: Viewpoint, targets: Sequence[Memory], now: float
) -> None:
    """Note sources that retention has removed as erased: the archive may hold a copy."""
    ids = {
        message_id
        for memory in targets
        if memory.type is not MemoryType.SUMMARY
        for message_id in memory.source_message_ids
    }
    if ids:
        here = {row.id for row in stores.messages.find(view.owner, MessageFilter(ids=ids))}
        stores.messages.record_erased(view.owner, ids - here, now)


def _sessions_of_talk(
    stores: Stores, view: Viewpoint, gone: Sequence[Memory], told: Sequence[Message]
) -> list[Session]:
    """Return the conversations from which memories were learned or in which they are told."""
    places = {(view.owner, row.session_id, row.bot_id) for row in gone if row.source_message_ids}
    talks = {conversation_of(message) for message in told}
    places |= {(place.owner, place.session_id, place.bot_id) for place in talks}
    return [
        session
        for owner, session_id, bot_id in sorted(places, key=str)
        for session in stores.sessions.find(owner, session_id=session_id, bot_id=bot_id)
    ]
