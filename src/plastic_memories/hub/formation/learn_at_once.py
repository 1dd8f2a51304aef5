"""Learn what must always be known from messages as soon as they are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plastic_memories.errors import Conflict
from plastic_memories.hub.formation.correcting_messages import apply_corrections
from plastic_memories.hub.formation.covered_talk import hide_covered_talk
from plastic_memories.hub.formation.digest import Digest, recalled_texts
from plastic_memories.hub.formation.jobs import (
    FormationOptions,
    check_lease,
    complete_job,
    open_job,
)
from plastic_memories.hub.formation.learn import store_learned_draft
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.language.gate.decision import may_be_told
from plastic_memories.language.reading.always_known import is_always_known, may_tell_always_known
from plastic_memories.language.reading.injected_text import fingerprints
from plastic_memories.language.reading.talk_window import is_injected_echo, without_injected_text
from plastic_memories.model.job import Job, TaskType, Trigger
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message, Role, visible_message
from plastic_memories.model.session import Session
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter

_MAX_ATTEMPTS = 5


def is_worth_reading_at_once(message: Message) -> bool:
    """Return whether a new message may tell what must always be known."""
    if message.role is not Role.USER:
        return False
    return may_tell_always_known(message.content) or may_be_told(message.content)


@dataclass(frozen=True, slots=True)
class _NewTalk:
    session: Session
    messages: Sequence[Message]  # the new ones, and the one before them
    upto: int  # id of the last message that was there
    recalled: Sequence[str]
    time_zone: str


@dataclass(frozen=True, slots=True)
class LearnAtOnce:
    """Runs a light job. The digest reads the same messages later, and changes nothing twice."""

    digest: Digest

    async def __call__(self, job: Job) -> Job:
        """Store what must always be known of the messages since the job was stored."""
        for _ in range(_MAX_ATTEMPTS):
            done = await self._attempt(job)
            if done is not None:
                return done
        raise Conflict("The conversation changes faster than it can be read.")

    async def _attempt(self, job: Job) -> Job | None:
        storage = self.digest.storage
        talk = await storage.read(lambda stores: self._read(stores, job))
        unread = await self.digest.unread_clauses.drafts(talk.messages, (), talk.time_zone)
        drafts = await asyncio.to_thread(self._extract, talk, unread)
        return await storage.write(lambda stores: self._store(stores, job, talk, drafts))

    def _read(self, stores: Stores, job: Job) -> _NewTalk:
        session = stores.sessions.get(job.owner, job.session_ref)
        if session is None:
            raise Conflict("The session is gone.")
        waiting = list(self._messages_after(stores, session, session.watermark))
        talk = tuple(without_injected_text(_since(waiting, job.created_at)))
        return _NewTalk(
            session,
            talk,
            upto=waiting[-1].id if waiting else session.watermark,
            recalled=recalled_texts(stores, job.owner, talk),
            time_zone=stores.personas.settings(job.owner.user).time_zone,
        )

    def _messages_after(
        self, stores: Stores, session: Session, message_id: int
    ) -> Iterator[Message]:
        limit = self.digest.options.window
        while page := stores.sessions.messages_after(session, message_id, limit):
            yield from page
            message_id = page[-1].id

    def _extract(self, talk: _NewTalk, unread: Sequence[Draft]) -> list[Draft]:
        if not talk.messages:
            return []
        known = fingerprints(talk.recalled)
        found = self.digest.judge.extract(talk.messages, talk.time_zone)
        screened, _ = self.digest.screening.screen_drafts([*found, *unread])
        accepted = (draft for _, draft in screened)
        return [draft for draft in accepted if not is_injected_echo(draft, known)]

    def _store(
        self, stores: Stores, job: Job, talk: _NewTalk, drafts: Sequence[Draft]
    ) -> Job | None:
        """Store the drafts and complete the job; None if a message was changed meanwhile."""
        check_lease(stores, job)
        if not _is_unchanged(stores, talk):
            return None
        now = self.digest.storage.clock.now()
        caller = hub_caller(job.owner.user)
        needed = [draft for draft in drafts if is_always_known(draft.key)]
        written = [store_learned_draft(stores, caller, job.owner, draft, now) for draft in needed]
        ids = [outcome.memory.id for outcome in written if outcome.memory is not None]
        hide_covered_talk(stores, job.owner, drafts, now)
        apply_corrections(stores, caller, job.owner, talk.messages, now)
        done = complete_job(stores, job, ids, now)
        # What was stored while this job ran did not open another one.
        later = filter(
            is_worth_reading_at_once, self._messages_after(stores, talk.session, talk.upto)
        )
        if (first := next(later, None)) is not None:
            queue_reading_at_once(stores, talk.session, first.created_at, self.digest.options)
        return done


def queue_reading_at_once(
    stores: Stores, session: Session, since: float, options: FormationOptions
) -> None:
    """Store a light job for the messages since a time, in the transaction that stores them."""
    open_job(stores, session, Trigger.THRESHOLD, since, options, task_type=TaskType.PROFILE)


def _since(messages: Sequence[Message], created_at: float) -> Sequence[Message]:
    """Return the messages stored since a time, and the one before: it may hold the question."""
    first = next(
        (place for place, one in enumerate(messages) if one.created_at >= created_at), len(messages)
    )
    return messages[max(0, first - 1) :] if first < len(messages) else ()


def _is_unchanged(stores: Stores, talk: _NewTalk) -> bool:
    ids = [message.id for message in talk.messages]
    rows = stores.messages.find(talk.session.owner, MessageFilter(ids=ids, hidden=False))
    visible = without_injected_text([visible_message(row) for row in rows])
    stored = {message.id: message for message in visible}
    return all(stored.get(message.id) == message for message in talk.messages)
