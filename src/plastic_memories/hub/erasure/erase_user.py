"""Erase everything of a user: every persona, in every store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from plastic_memories.errors import Conflict, InvalidInput, NotAllowed, Unavailable
from plastic_memories.formats.archive_file import conversations_folder
from plastic_memories.formats.export_file import exports_folder
from plastic_memories.hub.formation.jobs import Jobs, complete_job, pending_in
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import Job, JobStatus, TaskType, Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, User
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.storage import Residue, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

# Rows of one transaction: between two of them others write.
_MESSAGE_SLICE = 200
_MEMORY_SLICE = 50
_RETRY_S = 30.0
_KEPT = (
    "API keys of the user; revoke them with `plastic-memories keys revoke`",
    "the audit log and the list of erasures, which hold ids and no text",
    "backup files made earlier; restoring one erases the user again",
)


@dataclass(frozen=True, slots=True)
class EraseUser:
    storage: AuditedStorage
    jobs: Jobs
    archive: Archive
    pages: ForgetInPages

    async def __call__(self, caller: Caller, confirm: str) -> Mapping[str, Any]:
        """Erase the user of the caller, and return a receipt; `confirm` must repeat the user's id.

        A job is stored first: after a crash, or while a part is down, a worker finishes it.
        """
        limits, user = caller.key.limits, caller.user
        if limits.persona_id or limits.source_app:
            raise NotAllowed("This key is bound to a persona or an app: it may not erase the user.")
        if confirm != user.user_id:
            wrong = {"loc": ["body", "confirm"], "msg": "must repeat user_id", "type": "confirm"}
            raise InvalidInput("To erase a user, repeat the user_id in confirm.", [wrong])
        now = self.storage.clock.now()

        def work(stores: Stores) -> Job:
            record_event(stores, caller, "user.erase", "", now)
            return stores.jobs.open(_erasing_job(user, now, self.jobs.options.max_retries))

        job = await self.storage.write(work)
        leased = await self.jobs.lease_job(f"caller-{token_hex(8)}", job)
        if leased is None:
            raise Conflict("This user is being erased already.")
        return (await self._erase(leased))[1]

    async def run_job(self, job: Job) -> Job:
        """Erase the user of a leased job."""
        return (await self._erase(job))[0]

    async def _erase(self, job: Job) -> tuple[Job, Mapping[str, Any]]:
        user = job.owner.user
        erased = await self._erase_in_slices(job)
        copies = {**await self._erase_files(user), **await self.pages.forget_user(user)}
        is_waiting = any(counts.get("waiting") for counts in copies.values())
        now = self.storage.clock.now()

        def finish(stores: Stores) -> Job:
            erased.update(stores.personas.erase_user(user, now))
            return job if is_waiting else complete_job(stores, job, (), now)

        done = await self.storage.write(finish)
        residue = await self._scrub()
        if is_waiting:
            done = await self.jobs.release(job, _RETRY_S)
        left = await self.storage.read(lambda stores: len(stores.personas.all(user)))
        return done, {
            "erased": dict(erased),
            **copies,
            "remaining": {"personas": left},
            "pending": pending_in(copies, residue),
            "elsewhere": [*_KEPT, *residue.kept],
        }

    async def _erase_in_slices(self, job: Job) -> Counter[str]:
        """Erase memories and messages, some in each transaction, and extend the lease."""
        erased: Counter[str] = Counter()
        personas = await self.storage.read(lambda stores: stores.personas.all(job.owner.user))
        for owner in [persona.owner for persona in personas]:
            while counts := await self._erase_slice(owner):
                erased.update(counts)
                await self.jobs.extend(job)
        return erased

    async def _erase_slice(self, owner: Owner) -> Counter[str]:
        now = self.storage.clock.now()

        def work(stores: Stores) -> Counter[str]:
            rows = stores.memories.find(owner, MemoryFilter(limit=_MEMORY_SLICE))
            stores.memories.erase(owner, [row.id for row in rows], now)
            said = stores.messages.find(owner, MessageFilter(limit=_MESSAGE_SLICE))
            ids = [message.id for message in said]
            gone = stores.messages.erase(owner, MessageFilter(ids=ids), now) if ids else []
            return +Counter(memories=len(rows), messages=len(gone))

        return await self.storage.write(work)

    async def _erase_files(self, user: User) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {}
        for name, folder in (
            ("archive", conversations_folder(user)),
            ("exports", exports_folder(user)),
        ):
            try:
                removed = await self.archive.remove_under(folder)
                counts[name] = {"removed": removed, "waiting": 0}
            except Unavailable:
                counts[name] = {"removed": 0, "waiting": 1}
        return counts

    async def _scrub(self) -> Residue:
        try:
            return await self.storage.backend.scrub()
        except Unavailable:  # the next start or scrub clears the files
            return Residue(pending=("storage files",))


def _erasing_job(user: User, now: float, max_retries: int) -> Job:
    return Job(
        owner=Owner(user.tenant_id, user.user_id, ""),
        session_ref=0,
        task_type=TaskType.ERASE_USER,
        trigger=Trigger.EXPLICIT,
        created_at=now,
        # Leased at once by the caller; a worker takes over when that lease runs out.
        next_try_at=now + _RETRY_S,
        max_retries=max_retries,
        status=JobStatus.PENDING,
    )
