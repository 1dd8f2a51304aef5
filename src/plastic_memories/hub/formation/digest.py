"""Turn a stretch of conversation into memories: once, whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import Conflict, Unavailable
from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.jobs import (
    FormationOptions,
    check_lease,
    complete_job,
    open_job,
)
from plastic_memories.hub.formation.learn import end_summaries, store_learned_draft
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.language.reading.injected_text import fingerprints
from plastic_memories.language.reading.message_reading import latest_by_key
from plastic_memories.language.reading.rule_summary import summarise_drafts, summary_draft
from plastic_memories.language.reading.talk_window import (
    is_injected_echo,
    without_injected_text,
)
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.formation import Proposal, Summary, TalkWindow
from plastic_memories.model.job import Job, TaskType, Trigger
from plastic_memories.model.memory import Draft, Status
from plastic_memories.model.message import Role
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
    """The talk was edited while it was being read."""


@dataclass(frozen=True, slots=True)
class _DigestInput:
    """What a job works on: the messages as they were when it looked."""

    session: Session
    window: TalkWindow
    upto: int  # the last message, read or not worth reading
    recalled: Sequence[str] = ()  # what the hub may have put into prompts before it was said


@dataclass(frozen=True, slots=True)
class _DigestOutput:
    drafts: Sequence[Draft]
    repeats: Sequence[Draft]  # they may support what is known, and make nothing new
    summary: Draft | None = None
    unavailable: Unavailable | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    storage: AuditedStorage
    screening: Screening
    judge: JudgeEngine
    extractor: Extractor | None
    options: FormationOptions
    archives: bool

    async def __call__(self, job: Job) -> Job:
        """Do a leased job; raise `Unavailable` if the model must be asked again later."""
        for _ in range(_MAX_ATTEMPTS):
            reading = await self.storage.read(lambda stores: self._read_window(stores, job))
            learned = await self._extract(reading)
            try:
                return await self._store_output(job, reading, learned)
            except _WindowChanged:
                continue
        raise Conflict("The conversation changes faster than it can be read.")

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
        return _DigestInput(session, window, upto, _recalled_texts(stores, window))

    async def _extract(self, reading: _DigestInput) -> _DigestOutput:
        window = reading.window
        if not window.messages:
            return _DigestOutput((), ())
        found = await self._extract_by_rules(window)
        try:
            proposal = await self._proposal(window)
        except Unavailable as error:
            # The rules serve until the model can be asked.
            drafts, echoes = await self._split_repeats(reading, found)
            return _DigestOutput(drafts, echoes, unavailable=error)
        drafts, echoes = await self._split_repeats(reading, _merge_drafts(found, proposal.drafts))
        # A summary is of the talk's own realm: a story told on the way is not part of it.
        own = [draft for draft in drafts if draft.realm is window.messages[0].realm]
        summary = proposal.summary or summarise_drafts(own, window.language)
        return _DigestOutput(drafts, echoes, self._summary_draft(reading, summary, proposal))

    async def _split_repeats(
        self, reading: _DigestInput, found: Sequence[Draft]
    ) -> tuple[list[Draft], list[Draft]]:
        """Return what was said, and what only repeats the hub's own words."""
        known = await asyncio.to_thread(fingerprints, reading.recalled)
        kept = [(draft, is_injected_echo(draft, known)) for draft in self._accepted_drafts(found)]
        said = [draft for draft, is_echo in kept if not is_echo]
        return said, [draft for draft, is_echo in kept if is_echo]

    async def _extract_by_rules(self, window: TalkWindow) -> list[Draft]:
        """Read a few messages at a time: a thread that reads keeps the interpreter to itself."""
        found: list[Draft] = []
        for start in range(0, len(window.messages), _RULE_BATCH):
            few = window.messages[start : start + _RULE_BATCH]
            found += await asyncio.to_thread(self.judge.extract, few, window.time_zone)
        return latest_by_key(found)

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
        kept = self._accepted_drafts(
            [summary_draft(reading.session, reading.window, summary, tokens)]
        )
        return kept[0] if kept else None

    async def _store_output(self, job: Job, reading: _DigestInput, learned: _DigestOutput) -> Job:
        now = self.storage.clock.now()

        def work(stores: Stores) -> Job:
            check_lease(stores, job)
            _check_unchanged(stores, reading)
            memory_ids = _store_drafts(stores, job, learned, now)
            if learned.unavailable is not None:
                return job
            session = self._advance_watermark(stores, reading, now)
            done = complete_job(stores, job, memory_ids, now)
            if reading.window.messages and reading.upto <= reading.session.archived_upto:
                # Read again after an edit: what the archive has follows.
                queue_archiving(stores, [session], now, self.options)
            self._queue_next_job(stores, done, session, now)
            return done

        done = await self.storage.write(work)
        if learned.unavailable is not None:
            raise learned.unavailable
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
        """Store what comes next: the rest of the talk, or its archiving."""
        is_over = session.ended_at is not None or done.trigger in _END_TRIGGERS
        more = session.waiting > 0 and (is_over or done.trigger is Trigger.EXPLICIT)
        if more or session.rounds >= self.options.threshold:
            open_job(stores, session, done.trigger, now, self.options)
        elif is_over and self.archives and session.archived_upto < session.watermark:
            open_job(stores, session, done.trigger, now, self.options, task_type=TaskType.ARCHIVE)


def _recalled_texts(stores: Stores, window: TalkWindow) -> list[str]:
    """Return what may have been injected before the first of these messages was said."""
    if not window.messages:
        return []
    before = window.messages[0].created_at
    wanted = MemoryFilter(statuses={Status.ACTIVE}, limit=_MAX_RECALLED)
    return [
        row.content
        for row in stores.memories.find(window.owner, wanted)
        if row.last_recalled_at is not None and row.created_at <= before
    ]


def _merge_drafts(by_the_rules: Sequence[Draft], proposed: Sequence[Draft]) -> list[Draft]:
    """The rules are sure of what they find; the model adds what they cannot see."""
    known = {(draft.type, draft.key) for draft in by_the_rules}
    return [*by_the_rules, *(one for one in proposed if (one.type, one.key) not in known)]


def _check_unchanged(stores: Stores, reading: _DigestInput) -> None:
    """Raise if a message was edited, hidden, erased or digested since it was read."""
    session = stores.sessions.get(reading.session.owner, reading.session.id)
    if session is None or session.watermark != reading.session.watermark:
        raise _WindowChanged("digested meanwhile")
    ids = [message.id for message in reading.window.messages]
    rows = stores.messages.find(session.owner, MessageFilter(ids=ids, hidden=False))
    stored = {message.id: message for message in without_injected_text(rows)}
    if any(stored.get(message.id) != message for message in reading.window.messages):
        raise _WindowChanged("edited meanwhile")


def _store_drafts(stores: Stores, job: Job, learned: _DigestOutput, now: float) -> list[int]:
    caller = hub_caller(job.owner.user)
    drafts = list(learned.drafts)
    if learned.summary is not None:
        end_summaries(stores, caller, learned.summary, job.owner, now)
        drafts.append(learned.summary)
    written = [store_learned_draft(stores, caller, job.owner, draft, now) for draft in drafts]
    written += [
        store_learned_draft(stores, caller, job.owner, draft, now, echo=True)
        for draft in learned.repeats
    ]
    return [one.memory.id for one in written if one.memory is not None]
