"""End a session, set its realm, or digest it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import NotFound, Unavailable
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.formation.jobs import FormationOptions, open_job
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import Job, Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Conversation, Session
from plastic_memories.ports.storage import Stores
from plastic_memories.runtime.wakeup import WakeUp

_RUN_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSelector:
    """Selects sessions of one persona; None means "any"."""

    owner: Owner
    session_id: str | None = None
    bot_id: str | None = ""
    source_app: str | None = None

    def find(self, stores: Stores) -> list[Session]:
        return stores.sessions.find(
            self.owner,
            session_id=self.session_id,
            bot_id=self.bot_id,
            source_app=self.source_app,
        )


@dataclass(frozen=True, slots=True)
class SessionLifecycle:
    storage: AuditedStorage
    formation: FormationOptions
    work: JobRunner
    wakeup: WakeUp

    async def end(self, caller: Caller, which: SessionSelector) -> list[Job]:
        """End sessions: waiting messages are digested, then each conversation is archived."""
        self._check_formation_enabled()
        now = self.storage.clock.now()

        def work(stores: Stores) -> list[Job]:
            sessions = _find_sessions(stores, which)
            for session in sessions:
                stores.sessions.save(replace(session, ended_at=now))
            record_event(
                stores, caller, "session.end", which.owner.persona_id, now,
                session_id=which.session_id, **_app(which.source_app),
            )  # fmt: skip
            return [
                open_job(stores, session, Trigger.SESSION_END, now, self.formation)
                for session in sessions
            ]

        jobs = await self.storage.write(work)
        self.wakeup.notify()
        return jobs

    async def update(self, caller: Caller, place: Conversation, realm: Realm) -> Session:
        """Set the realm (real or story) of a whole session, even before its first message."""
        now = self.storage.clock.now()
        app = caller.key.limits.source_app or None

        def work(stores: Stores) -> Session:
            stores.personas.ensure(place.owner, now)
            find = partial(
                stores.sessions.find,
                place.owner,
                session_id=place.session_id,
                bot_id=place.bot_id,
                source_app=app,
            )
            for session in find() or [stores.sessions.record_messages(place, 0, 0, now)]:
                stores.sessions.save(replace(session, realm=realm))
            record_event(
                stores, caller, "session.update", place.owner.persona_id, now,
                session_id=place.session_id, realm=realm.value, **_app(app),
            )  # fmt: skip
            return find()[0]

        return await self.storage.write(work)

    async def run(self, which: SessionSelector, *, wait: bool) -> list[Job]:
        """Digest sessions now; `wait` returns after digest and archiving are done."""
        self._check_formation_enabled()
        now = self.storage.clock.now()

        def work(stores: Stores) -> list[Job]:
            sessions = _find_sessions(stores, which)
            waiting = [session for session in sessions if session.waiting] or sessions[:1]
            return [
                open_job(stores, session, Trigger.EXPLICIT, now, self.formation)
                for session in waiting
            ]

        jobs = await self.storage.write(work)
        if not wait:
            self.wakeup.notify()
            return jobs
        return [await self.work.run_with_followups(job, _RUN_TIMEOUT_S) for job in jobs]

    def _check_formation_enabled(self) -> None:
        if not self.formation.enabled:
            raise Unavailable("Formation is off: set PLASTIC_MEMORIES_FORMATION=on.")


def _app(source_app: str | None) -> dict[str, str]:
    return {} if source_app is None else {"source_app": source_app}


def _find_sessions(stores: Stores, which: SessionSelector) -> Sequence[Session]:
    sessions = which.find(stores)
    if not sessions:
        raise NotFound("Nothing was said there yet.")
    return sessions
