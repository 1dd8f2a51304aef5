"""Export all data of a user, and import it again."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo

from plastic_memories.errors import InvalidInput, NotAllowed, Rejected
from plastic_memories.formats import export_lines
from plastic_memories.formats.diary import diary_lines
from plastic_memories.formats.export_signature import ExportSigner
from plastic_memories.formats.import_index import index_lines
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transfer.import_lines import ImportTerms
from plastic_memories.hub.transfer.import_progress import ImportReport
from plastic_memories.hub.transfer.import_record import check_import, start_import
from plastic_memories.hub.transfer.sliced_import import SlicedImport
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, User, Viewpoint
from plastic_memories.model.persona import Persona
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_PAGE = 500
Row = TypeVar("Row", Memory, Message)


@dataclass(frozen=True, slots=True)
class Transfer:
    storage: AuditedStorage
    screening: Screening
    personas: Personas
    max_entries: int = 500_000
    _locks: WeakValueDictionary[User, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def export_lines(self, caller: Caller, persona_id: str | None) -> AsyncIterator[str]:
        """Yield the export as JSON lines: everything the user owns, and nothing of anyone else.

        The last line signs the others, so that an import recognises them as the user's own.
        """
        seal = ExportSigner(await self.secret(), caller.user)
        async for line in self._lines(caller, persona_id):
            seal.add(line)
            yield _json(line)
        yield _json(seal.line())

    async def _lines(
        self, caller: Caller, persona_id: str | None
    ) -> AsyncIterator[Mapping[str, Any]]:
        now = self.storage.clock.now()
        yield {"kind": export_lines.FORMAT, "version": export_lines.VERSION, "exported_at": now}
        settings = await self.personas.settings(caller.user)
        yield {"kind": "settings", "time_zone": settings.time_zone, "language": settings.language}
        for number, persona in enumerate(await self._personas(caller, persona_id)):
            yield export_lines.persona_line(persona)
            card = await self._card(persona.owner)
            if card is not None:
                yield export_lines.card_line(persona.owner, card)
            app = caller.key.limits.source_app
            async for message in self._messages(persona.owner, app):
                yield export_lines.message_line(message)
            # User facts belong to every persona; the first one brings them.
            async for row in self.persona_rows(persona.owner, app, user_facts=not number):
                yield row

    async def export_markdown(self, caller: Caller, persona_id: str | None) -> AsyncIterator[str]:
        """Yield profiles and a diary as one readable document."""
        settings = await self.personas.settings(caller.user)
        zone = ZoneInfo(settings.time_zone)
        for persona in await self._personas(caller, persona_id):
            app = caller.key.limits.source_app
            view = Viewpoint(persona.owner, all_bots=True, source_app=app, only_app=app)
            profile = await self.personas.profile(view)
            yield (profile or f"# {persona.owner.persona_id}\n") + "\n"
            memories = [row async for row in self._memories(persona.owner, app)]
            language = settings.language or majority_language(row.content for row in memories)
            for line in diary_lines(memories, language, zone):
                yield line + "\n"

    async def export_bundle(self, caller: Caller, persona_id: str | None) -> bytes:
        """Return a ZIP archive with the export and its readable form."""
        lines = "".join([line async for line in self.export_lines(caller, persona_id)])
        text = "".join([part async for part in self.export_markdown(caller, persona_id)])
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("export.jsonl", lines)
            archive.writestr("memories.md", text)
        return out.getvalue()

    async def import_lines(
        self,
        caller: Caller,
        lines: Iterable[str],
        *,
        dry_run: bool,
        trust: bool = False,
        match_any_status: bool = False,
        import_id: int | None = None,
    ) -> ImportReport:
        """Import an export of this or another installation, in many short transactions.

        What was imported before stays as it is: an import that failed can simply be repeated.
        With `trust` the user vouches for it, as if it were an export of their own. With
        `match_any_status` a memory that was imported before is never imported again, whatever
        became of it since. `import_id` continues an import: both are undone together.
        """
        if trust:
            _check_may_vouch(caller)
        if not dry_run:
            import_id = await self._start(caller, import_id)
        report = await self.run_import(
            caller,
            lines,
            dry_run=dry_run,
            trust=trust,
            match_any_status=match_any_status,
            import_id=None if dry_run else import_id,
        )
        if not dry_run:
            now, counts = self.storage.clock.now(), dict(report.counts)
            await self.storage.write(
                lambda stores: record_event(
                    stores, caller, "import", "", now, import_id=import_id, counts=counts
                )
            )
        return report

    async def _start(self, caller: Caller, import_id: int | None) -> int:
        if import_id is not None:
            return await self.storage.read(lambda stores: check_import(stores, caller, import_id))
        now = self.storage.clock.now()
        return await self.storage.write(lambda stores: start_import(stores, caller, now))

    async def run_import(
        self,
        caller: Caller,
        lines: Iterable[str],
        *,
        dry_run: bool,
        trust: bool,
        match_any_status: bool = False,
        import_id: int | None = None,
    ) -> ImportReport:
        """Import lines without a record of the import as such."""
        secret = await self.secret()
        # On a thread: a large file takes seconds to read.
        index = await asyncio.to_thread(index_lines, lines, secret, caller.user, self.max_entries)
        self._check_personas(caller, index.persona_ids)
        terms = ImportTerms(
            caller,
            self.screening,
            self.storage.clock.now(),
            is_trusted=trust or index.is_own,
            dry_run=dry_run,
            match_any_status=match_any_status,
            import_id=import_id,
        )
        # A second import of the same user, such as a retry, must see what the first has stored.
        async with self._locks.setdefault(caller.user, asyncio.Lock()):
            return await SlicedImport(self.storage, terms).run(index)

    def _check_personas(self, caller: Caller, persona_ids: Iterable[str]) -> None:
        """Raise `NotAllowed` before anything is stored if the key is bound to another persona."""
        for persona_id in persona_ids:
            with suppress(InvalidInput, Rejected):  # such lines are skipped one by one
                caller.owner(self.screening.screen_identifier(persona_id))

    async def _personas(self, caller: Caller, persona_id: str | None) -> Sequence[Persona]:
        found = await self.personas.list_personas(caller.user)
        if persona_id is None:
            bound = caller.key.limits.persona_id
            return [persona for persona in found if bound in ("", persona.owner.persona_id)]
        owner = caller.owner(persona_id)
        return [persona for persona in found if persona.owner == owner]

    async def persona_rows(
        self, owner: Owner, app: str, *, user_facts: bool = True
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the memories of a persona with their sources, and its goals."""
        async for memory in self._memories(owner, app):
            if user_facts or memory.owner == owner:
                yield export_lines.memory_line(replace(memory, owner=owner))
        for goal in await self.storage.read(lambda stores: stores.goals.find(owner, None)):
            yield export_lines.goal_line(goal)

    async def secret(self) -> bytes:
        """Return the secret of this installation that signs exports."""
        return await self.storage.read(lambda stores: stores.tombstones.secret())

    async def _card(self, owner: Owner) -> bytes | None:
        return await self.storage.read(lambda stores: stores.cards.get(owner))

    async def _memories(self, owner: Owner, app: str) -> AsyncIterator[Memory]:
        async def page(before: int | None) -> list[Memory]:
            wanted = MemoryFilter(before_id=before, only_app=app or None, limit=_PAGE)
            return await self.storage.read(lambda stores: stores.memories.find(owner, wanted))

        async for memory in _all_pages(page):
            yield memory

    async def _messages(self, owner: Owner, app: str) -> AsyncIterator[Message]:
        async def page(before: int | None) -> list[Message]:
            # Hidden messages were forgotten.
            wanted = MessageFilter(
                before_id=before, source_app=app or None, hidden=False, limit=_PAGE
            )
            return await self.storage.read(lambda stores: stores.messages.find(owner, wanted))

        async for message in _all_pages(page):
            yield message


def _check_may_vouch(caller: Caller) -> None:
    """Raise `NotAllowed` unless the key is the user's own and bound to no persona or app."""
    limits = caller.key.limits
    if caller.key.is_app_key or limits.persona_id or limits.source_app:
        raise NotAllowed("Only a key of the user's own, bound to no persona or app, can trust.")


async def _all_pages(page: Callable[[int | None], Awaitable[list[Row]]]) -> AsyncIterator[Row]:
    """Yield every row page by page, so that an export never holds all rows at once."""
    before: int | None = None
    while True:
        rows = await page(before)
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return
        before = rows[-1].id


def _json(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
