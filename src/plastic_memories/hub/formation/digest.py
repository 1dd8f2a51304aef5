"""Digest a window of a conversation into memories: exactly once, all or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.errors import Conflict, Unavailable
from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.correcting_messages import (
    apply_corrections,
    apply_replacements,
    link_replaced,
    possible_old_statements,
    states_another_value,
)
from plastic_memories.hub.formation.covered_statements import (
    CoveredStatements,
    find_covered_statements,
)
from plastic_memories.hub.formation.covered_talk import hide_covered_talk
from plastic_memories.hub.formation.jobs import (
    FormationOptions,
    check_lease,
    complete_job,
    open_job,
)
from plastic_memories.hub.formation.learn import end_summaries, store_learned_draft
from plastic_memories.hub.formation.unread_clauses import UnreadClauses
from plastic_memories.hub.memories.write import has_tombstone
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.language.reading.injected_text import fingerprints
from plastic_memories.language.reading.message_reading import latest_by_key
from plastic_memories.language.reading.rule_summary import summarise_drafts, summary_draft
from plastic_memories.language.reading.summary_sentences import as_user_statement, split_sentences
from plastic_memories.language.reading.talk_window import (
    is_injected_echo,
    without_injected_text,
)
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.formation import Proposal, Summary, TalkWindow
from plastic_memories.model.job import Job, TaskType, Trigger
from plastic_memories.model.memory import Draft, Status
from plastic_memories.model.message import Message, Role, visible_message
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import Session
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_MAX_ATTEMPTS = 5
_RULE_BATCH = 8
_MAX_RECALLED = 1000
_END_TRIGGERS = frozenset({Trigger.SESSION_END, Trigger.IDLE})


class _WindowChanged(Conflict):
    """The messages were edited while they were being read."""


@dataclass(frozen=True, slots=True)
class _DigestInput:
    """The input of a job: the messages as they were when it read them."""

    session: Session
    window: TalkWindow
    upto: int  # id of the last message, including skipped ones
    recalled: Sequence[str] = ()  # texts the hub may have injected into prompts before


@dataclass(frozen=True, slots=True)
class _DigestOutput:
    drafts: Sequence[Draft]
    repeats: Sequence[Draft]  # echoes of recalled text: they add sources, but no new memories
    summary: Draft | None = None
    summarised: Sequence[Draft] = ()  # what the summary may repeat
    unavailable: Unavailable | None = None
    replaced: Sequence[tuple[int, int]] = ()  # messages with an older and a newer value of a key


@dataclass(frozen=True, slots=True)
class Digest:
    storage: AuditedStorage
    screening: Screening
    judge: JudgeEngine
    extractor: Extractor | None
    options: FormationOptions
    archives: bool
    unread_clauses: UnreadClauses = field(default_factory=UnreadClauses)
    # What is done with new messages before they are read, set when other themes are assembled.
    before_reading: list[Callable[[Sequence[Message]], Awaitable[object]]] = field(
        default_factory=list
    )

    async def __call__(self, job: Job) -> Job:
        """Run a leased job; raise `Unavailable` if the model must be asked again later."""
        if self.before_reading:
            messages = await self.storage.read(lambda stores: self._new_messages(stores, job))
            for step in self.before_reading:
                await step(messages)
        for _ in range(_MAX_ATTEMPTS):
            reading = await self.storage.read(lambda stores: self._read_window(stores, job))
            output = await self._extract(reading)
            try:
                return await self._store_output(job, reading, output)
            except _WindowChanged:
                continue
        raise Conflict("The conversation changes faster than it can be read.")

    def _new_messages(self, stores: Stores, job: Job) -> list[Message]:
        session = stores.sessions.get(job.owner, job.session_ref)
        if session is None:
            return []
        return stores.sessions.messages_after(session, session.watermark, self.options.window)

    def _read_window(self, stores: Stores, job: Job) -> _DigestInput:
        session = stores.sessions.get(job.owner, job.session_ref)
        if session is None:
            raise Conflict("The session is gone.")
        messages = stores.sessions.messages_after(session, session.watermark, self.options.window)
        persona = stores.personas.get(job.owner)
        settings = stores.personas.settings(job.owner.user)
        talk = tuple(without_injected_text(messages))
        window = TalkWindow(
            owner=job.owner,
            messages=talk,
            persona_name=(persona.display_name if persona else "") or job.owner.persona_id,
            time_zone=settings.time_zone,
            language=settings.language or majority_language(message.content for message in talk),
        )
        upto = messages[-1].id if messages else session.watermark
        return _DigestInput(session, window, upto, recalled_texts(stores, job.owner, talk))

    async def _extract(self, reading: _DigestInput) -> _DigestOutput:
        window = reading.window
        if not window.messages:
            return _DigestOutput((), ())
        found = await self._extract_by_rules(window)
        try:
            proposal = await self._proposal(window)
        except Unavailable as error:
            # The results of the rules are stored now; the model is asked again later.
            drafts, echoes = await self._split_repeats(reading, found)
            replaced = await asyncio.to_thread(self._replaced_messages, window, found)
            return _DigestOutput(drafts, echoes, unavailable=error, replaced=replaced)
        drafts, echoes = await self._split_repeats(reading, _merge_drafts(found, proposal.drafts))
        # A summary covers the realm of the conversation: a story told in it is left out.
        realm = window.messages[0].realm
        covered = await self._covered_statements(window, proposal.summary, [*drafts, *echoes])
        own = [one for one in drafts if one.realm is realm and one not in covered.drafts]
        summary = covered.leave_out_of(proposal.summary) or summarise_drafts(own, window.language)
        summarising = self._summary_draft(reading, summary, proposal)
        replaced = await asyncio.to_thread(self._replaced_messages, window, found)
        return _DigestOutput(drafts, echoes, summarising, summarised=own, replaced=replaced)

    async def _covered_statements(
        self, window: TalkWindow, proposed: Summary | None, drafts: Sequence[Draft]
    ) -> CoveredStatements:
        """Return what the user has forbidden to learn again: no summary may repeat it."""
        owner = window.owner
        if not await self.storage.read(lambda stores: stores.tombstones.has_any(owner)):
            return CoveredStatements()
        by_sentence: dict[str, list[Draft]] = {}
        for sentence in split_sentences(proposed.text) if proposed else ():
            said = replace(window.messages[0], role=Role.USER, content=as_user_statement(sentence))
            by_sentence[sentence] = await asyncio.to_thread(
                self.judge.extract, [said], window.time_zone
            )
        return await self.storage.read(
            lambda stores: find_covered_statements(stores, owner, drafts, by_sentence)
        )

    async def _split_repeats(
        self, reading: _DigestInput, found: Sequence[Draft]
    ) -> tuple[list[Draft], list[Draft]]:
        """Return the drafts that were stated, and those that only echo injected text."""
        known = await asyncio.to_thread(fingerprints, reading.recalled)
        checked = [
            (draft, is_injected_echo(draft, known)) for draft in self._accepted_drafts(found)
        ]
        stated = [draft for draft, is_echo in checked if not is_echo]
        return stated, [draft for draft, is_echo in checked if is_echo]

    async def _extract_by_rules(self, window: TalkWindow) -> list[Draft]:
        """Extract in small batches: a thread that parses holds the interpreter lock."""
        found: list[Draft] = []
        for start in range(0, len(window.messages), _RULE_BATCH):
            batch = window.messages[start : start + _RULE_BATCH]
            read = await asyncio.to_thread(self.judge.extract, batch, window.time_zone)
            unread = await self.unread_clauses.drafts(batch, read, window.time_zone)
            found += [*read, *unread]
        return latest_by_key(found)

    def _replaced_messages(
        self, window: TalkWindow, found: Sequence[Draft]
    ) -> list[tuple[int, int]]:
        """Return (old message, new message) where a later message gives a key another value."""
        return [
            (message.id, max(draft.source_message_ids))
            for draft in found
            for message in possible_old_statements(draft, window.messages)
            for old in self.judge.extract([message], window.time_zone)
            if states_another_value(old, draft)
        ]

    async def _proposal(self, window: TalkWindow) -> Proposal:
        return Proposal() if self.extractor is None else await self.extractor.propose(window)

    def _accepted_drafts(self, drafts: Sequence[Draft]) -> list[Draft]:
        return [draft for _, draft in self.screening.screen_drafts(drafts)[0]]

    def _summary_draft(
        self, reading: _DigestInput, summary: Summary | None, proposal: Proposal
    ) -> Draft | None:
        if summary is None:
            return None
        tokens = proposal.tokens_in + proposal.tokens_out
        accepted = self._accepted_drafts(
            [summary_draft(reading.session, reading.window, summary, tokens)]
        )
        return accepted[0] if accepted else None

    async def _store_output(self, job: Job, reading: _DigestInput, output: _DigestOutput) -> Job:
        now = self.storage.clock.now()

        def work(stores: Stores) -> Job:
            check_lease(stores, job)
            _check_unchanged(stores, reading)
            _check_not_forgotten(stores, job, output)
            memory_ids = _store_drafts(stores, job, output, now)
            hide_covered_talk(stores, job.owner, (*output.drafts, *output.repeats), now)
            # Last, so that what the same messages taught can be corrected as well.
            hub, messages = hub_caller(job.owner.user), reading.window.messages
            link_replaced(stores, job.owner, output.replaced)
            apply_corrections(stores, hub, job.owner, messages, now)
            if output.unavailable is not None:
                return job
            session = self._advance_watermark(stores, reading, now)
            done = complete_job(stores, job, memory_ids, now)
            if reading.window.messages and reading.upto <= reading.session.archived_upto:
                # Read again after an edit: the archived copy must be rewritten.
                queue_archiving(stores, [session], now, self.options)
            self._queue_next_job(stores, done, session, now)
            return done

        done = await self.storage.write(work)
        if output.unavailable is not None:
            raise output.unavailable
        return done

    def _advance_watermark(self, stores: Stores, reading: _DigestInput, now: float) -> Session:
        session = stores.sessions.get(reading.session.owner, reading.session.id)
        assert session is not None, "its job is held"
        left = stores.sessions.messages_after(session, reading.upto, self.options.window)
        moved = replace(
            session,
            watermark=reading.upto,
            waiting=len(left),
            rounds=sum(message.role is Role.USER for message in left),
            waiting_since=now if left else None,
            archived_upto=session.archived_upto if self.archives else reading.upto,
        )
        stores.sessions.save(moved)
        return moved

    def _queue_next_job(self, stores: Stores, done: Job, session: Session, now: float) -> None:
        """Queue the follow-up job: the rest of the conversation, or its archiving."""
        is_over = session.ended_at is not None or done.trigger in _END_TRIGGERS
        more = session.waiting > 0 and (is_over or done.trigger is Trigger.EXPLICIT)
        if more or session.rounds >= self.options.threshold:
            open_job(stores, session, done.trigger, now, self.options)
        elif is_over and self.archives and session.archived_upto < session.watermark:
            open_job(stores, session, done.trigger, now, self.options, task_type=TaskType.ARCHIVE)


def recalled_texts(stores: Stores, owner: Owner, talk: Sequence[Message]) -> list[str]:
    """Return texts that may have been injected before the first of these messages."""
    if not talk:
        return []
    before = talk[0].created_at
    wanted = MemoryFilter(statuses={Status.ACTIVE}, limit=_MAX_RECALLED)
    return [
        row.content
        for row in stores.memories.find(owner, wanted)
        if row.last_recalled_at is not None and row.created_at <= before
    ]


def _merge_drafts(from_rules: Sequence[Draft], proposed: Sequence[Draft]) -> list[Draft]:
    """Return the drafts of both; on the same key the rules win, for they are certain."""
    known = {(draft.type, draft.key) for draft in from_rules}
    return [*from_rules, *(one for one in proposed if (one.type, one.key) not in known)]


def _check_unchanged(stores: Stores, reading: _DigestInput) -> None:
    """Raise `_WindowChanged` if a message was edited, hidden, erased or digested meanwhile."""
    session = stores.sessions.get(reading.session.owner, reading.session.id)
    if session is None or session.watermark != reading.session.watermark:
        raise _WindowChanged("digested meanwhile")
    ids = [message.id for message in reading.window.messages]
    rows = stores.messages.find(session.owner, MessageFilter(ids=ids, hidden=False))
    visible = without_injected_text(list(map(visible_message, rows)))
    stored = {message.id: message for message in visible}
    if any(stored.get(message.id) != message for message in reading.window.messages):
        raise _WindowChanged("edited meanwhile")


def _check_not_forgotten(stores: Stores, job: Job, output: _DigestOutput) -> None:
    """Raise `_WindowChanged` if the summary may repeat what was forbidden meanwhile."""
    if any(has_tombstone(stores, job.owner, draft) for draft in output.summarised):
        raise _WindowChanged("forgotten meanwhile")


def _store_drafts(stores: Stores, job: Job, output: _DigestOutput, now: float) -> list[int]:
    caller = hub_caller(job.owner.user)
    drafts = list(output.drafts)
    if output.summary is not None:
        end_summaries(stores, caller, output.summary, job.owner, now)
        drafts.append(output.summary)
    written = [store_learned_draft(stores, caller, job.owner, draft, now) for draft in drafts]
    written += [
        store_learned_draft(stores, caller, job.owner, draft, now, echo=True)
        for draft in output.repeats
    ]
    stored = [outcome.memory for outcome in written if outcome.memory is not None]
    apply_replacements(stores, caller, job.owner, stored, now)
    return [memory.id for memory in stored]
