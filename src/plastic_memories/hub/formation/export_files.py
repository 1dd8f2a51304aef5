"""Write exports of a user's data to the archive, and remove forgotten data from them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from plastic_memories.errors import NotAllowed, Unavailable
from plastic_memories.formats.export_file import (
    ExportContent,
    PersonaExport,
    export_content,
    export_name,
    export_text,
    exported_at,
    exported_ids,
    exports_folder,
    read_export,
    without_forgotten,
)
from plastic_memories.hub.formation.jobs import FormationOptions, complete_job, queue_refresh
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import Job, TaskType
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.persona import Persona
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

T = TypeVar("T")
# The newest exports kept per user.
MAX_EXPORTS = 5


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One export: its path in the archive, and when it was made."""

    path: str
    exported_at: str


@dataclass(frozen=True, slots=True)
class ExportFiles:
    storage: AuditedStorage
    archive: Archive
    options: FormationOptions
    # One writer at a time: an older state must not overwrite a newer one.
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def write(self, caller: Caller) -> ExportFile:
        """Export all data of the user to the archive; delete the oldest exports over the limit."""
        if caller.key.limits.persona_id or caller.key.limits.source_app:
            raise NotAllowed("This key is bound to a persona or an app: it may not export all.")
        if not self.archive.is_enabled:
            raise NotAllowed("This hub has no archive to keep an export in (ARCHIVE=none).")
        now, user = self.storage.clock.now(), caller.user
        name = export_name(now)
        export = ExportFile(f"{exports_folder(user)}/{name}", exported_at(name) or "")
        async with self._lock:
            text = await self.storage.read(lambda stores: _full_export(stores, user, now))
            await self.archive.put(export.path, text)
            # Something may have been forgotten during the export.
            await self._refresh_file(user, export.path)
        for old in (await self.list_exports(user))[MAX_EXPORTS:]:
            await self.archive.remove(old.path)
        await self.storage.write(
            lambda stores: record_event(stores, caller, "export.file", "", now)
        )
        return export

    async def list_exports(self, user: User) -> list[ExportFile]:
        """Return a user's exports, newest first."""
        folder = exports_folder(user)
        names = sorted(await self.archive.names_in(folder), reverse=True)
        exported = {name: exported_at(name) for name in names}
        return [ExportFile(f"{folder}/{name}", at) for name, at in exported.items() if at]

    async def write_and_refresh(
        self, owner: Owner, work: Callable[[Stores], T]
    ) -> tuple[T, Mapping[str, int]]:
        """Run work that may forget something, then remove that from the exports as well.

        Return the result of the work, and counts of changed exports. A job is queued in the same
        transaction, in case this fails or crashes. Work that changed nothing returns a falsy value.
        """
        exported, now = await self._may_have_exports(owner.user), self.storage.clock.now()

        def work_and_queue(stores: Stores) -> T:
            done = work(stores)
            if exported and done:
                queue_refresh(stores, owner, TaskType.EXPORTS, now, self.options)
            return done

        done = await self.storage.write(work_and_queue)
        counts = {"rewritten": 0, "removed": 0, "waiting": 0}
        try:
            await self.refresh(owner.user, counts)
        except Unavailable:
            counts["waiting"] = 1
        return done, counts

    async def __call__(self, job: Job) -> Job:
        """Refresh the exports for a leased job, and complete it."""
        await self.refresh(job.owner.user, Counter())
        now = self.storage.clock.now()
        return await self.storage.write(lambda stores: complete_job(stores, job, (), now))

    async def _may_have_exports(self, user: User) -> bool:
        """Return whether a user has exports; True if the archive cannot be read."""
        try:
            return bool(await self.list_exports(user))
        except Unavailable:
            return True

    async def refresh(self, user: User, counts: dict[str, int]) -> None:
        """Remove forgotten data from all exports of a user; add to `counts` by outcome."""
        async with self._lock:
            for file in await self.list_exports(user):
                if outcome := await self._refresh_file(user, file.path):
                    counts[outcome] += 1

    async def _refresh_file(self, user: User, path: str) -> str:
        """Remove forgotten data from one export; return "rewritten", "removed" or ""."""
        text = await self.archive.get(path)
        content = read_export(text) if text is not None else None
        if content is not None:
            left = await self.storage.read(lambda stores: _without_forgotten(stores, user, content))
            if left == content:
                return ""
            if left["personas"]:
                await self.archive.put(path, export_text(left))
                return "rewritten"
        # Nothing is left in it, it was never finished, or it cannot be parsed.
        await self.archive.remove(path)
        return "removed"


def _full_export(stores: Stores, user: User, now: float) -> str:
    parts = [_persona_part(stores, persona) for persona in stores.personas.all(user)]
    return export_text(export_content(user, now, stores.personas.settings(user), parts))


def _persona_part(stores: Stores, persona: Persona) -> PersonaExport:
    owner = persona.owner
    return PersonaExport(
        persona,
        stores.cards.get(owner),
        stores.memories.find(owner, MemoryFilter()),
        # Hidden messages were forgotten.
        stores.messages.find(owner, MessageFilter(hidden=False)),
        stores.goals.find(owner, None),
    )


def _without_forgotten(stores: Stores, user: User, content: ExportContent) -> ExportContent:
    personas = {persona.owner.persona_id: persona for persona in stores.personas.all(user)}
    parts = {
        entry["character_id"]: _part_without_forgotten(
            stores, personas[entry["character_id"]], entry
        )
        for entry in content["personas"]
        if entry["character_id"] in personas
    }
    return without_forgotten(content, parts)


def _part_without_forgotten(
    stores: Stores, persona: Persona, entry: Mapping[str, Any]
) -> PersonaExport:
    owner = persona.owner
    memory_ids, message_ids = exported_ids(entry)
    messages = stores.messages.find(owner, MessageFilter(ids=message_ids))
    hidden = {row.id for row in messages if row.hidden_at is not None}
    return PersonaExport(
        persona,
        stores.cards.get(owner),
        stores.memories.find(owner, MemoryFilter(ids=memory_ids)),
        [row for row in messages if row.hidden_at is None],
        stores.goals.find(owner, None),
        stores.messages.find_erased(owner, message_ids) | hidden,
    )
