"""Create, show and delete personas; store the user's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.errors import InvalidInput, NotAllowed, NotFound
from plastic_memories.formats.card_macros import MacroNames, fill_memory_macros, user_name
from plastic_memories.hub.formation.archiving import ArchiveConversation
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import pending_in, queue_refresh, scrub
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.personas.templates import (
    TemplateOutcome,
    apply_in_slices,
    template_plan,
)
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.reader_lines import reader_lines
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.model.job import TaskType
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import SLOT_TYPES, Memory, MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, User, Viewpoint
from plastic_memories.model.persona import Persona, Slot, Template, UserSettings
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.template_source import TemplateSource
from plastic_memories.rules.conversation.branch_lines import BranchAncestry
from plastic_memories.rules.lifecycle.slot_values import build_slot
from plastic_memories.rules.prompt.always_told import with_one_address

# Nobody would read a profile with more rows than this.
_MAX_PROFILE_ROWS = 200


@dataclass(frozen=True, slots=True)
class ReaderContext:
    """Data read once and shared by all texts written for one reader."""

    view: Viewpoint
    lines: BranchAncestry
    core: Sequence[Memory]
    persona: Persona
    settings: UserSettings
    names: MacroNames


@dataclass(frozen=True, slots=True)
class Personas:
    storage: AuditedStorage
    screening: Screening
    profiles: ProfileBuilder
    templates: TemplateSource
    archive: ArchiveConversation
    exports: ExportFiles
    pages: ForgetInPages

    async def create(
        self, caller: Caller, owner: Owner, display_name: str | None, description: str | None
    ) -> tuple[Persona, bool]:
        """Create a persona, or change the given fields; return whether it is new."""
        now = self.storage.clock.now()
        new_name = None if display_name is None else self.screening.screen_text(display_name)
        new_text = None if description is None else self.screening.screen_text(description)

        def work(stores: Stores) -> tuple[Persona, bool]:
            created = stores.personas.ensure(owner, now)
            before = stores.personas.get(owner)
            assert before is not None
            persona = replace(
                before,
                display_name=before.display_name if new_name is None else new_name,
                description=before.description if new_text is None else new_text,
                updated_at=now,
            )
            stores.personas.save(persona)
            event = "persona.create" if created else "persona.update"
            record_event(stores, caller, event, owner.persona_id, now)
            return persona, created

        return await self.storage.write(work)

    async def apply_template(
        self, caller: Caller, owner: Owner, path: str, *, overwrite: bool
    ) -> tuple[Template, TemplateOutcome]:
        """Write a template's rows; existing rows stay unless `overwrite`."""
        template = self.templates.load(path)
        plan = template_plan(template, self.screening)
        applied = await apply_in_slices(self.storage, caller, owner, plan, overwrite=overwrite)
        return template, applied

    async def list_personas(self, user: User) -> list[Persona]:
        return await self.storage.read(lambda stores: stores.personas.all(user))

    async def profile(self, view: Viewpoint) -> str:
        """Return the persona's profile as Markdown; unknown personas have an empty one."""
        now = self.storage.clock.now()
        return await self.storage.read(
            lambda stores: self.profile_in_transaction(stores, view, now)
        )

    def profile_in_transaction(
        self, stores: Stores, view: Viewpoint, now: float, limit: int = _MAX_PROFILE_ROWS
    ) -> str:
        """Return the profile, inside a transaction that reads other data as well."""
        return self.profile_for(stores, self.reader_context(stores, view, now), now, limit)

    def reader_context(self, stores: Stores, view: Viewpoint, now: float) -> ReaderContext:
        """Read the data that every text for this reader needs."""
        lines = reader_lines(stores, view)
        known = lines.visible_memories(stores.memory_search.core(view, now))
        core = with_one_address(known, view.owner.persona_id)
        persona = stores.personas.get(view.owner) or Persona(owner=view.owner)
        settings = stores.personas.settings(view.owner.user)
        char = persona.display_name or view.owner.persona_id
        names = MacroNames(char, user_name(core, settings.language))
        return ReaderContext(view, lines, core, persona, settings, names)

    def profile_for(self, stores: Stores, context: ReaderContext, now: float, limit: int) -> str:
        view = context.view
        wanted = MemoryFilter(
            statuses={Status.ACTIVE},
            types={MemoryType.PROFILE},
            realm=view.realm,
            scopes={Scope.PERSONA, Scope.GLOBAL},
            bot_id=None if view.all_bots else view.bot_id,
            learned_in=view.session_id if view.only_session else None,
            not_expired_at=now,
            limit=limit,
        )
        rows = {memory.id: memory for memory in context.core}
        rows.update((memory.id, memory) for memory in stores.memories.find(view.owner, wanted))
        on_line = context.lines.visible_memories(list(rows.values()))
        shown = [fill_memory_macros(row, context.names) for row in on_line]
        return self.profiles.build(context.persona, shown, context.settings.language)

    async def slots(self, view: Viewpoint) -> list[Slot]:
        """Return the slots; for a reader of one app, build them from the rows it sees."""
        if view.only_app:
            return await self.storage.read_after_expiry(lambda stores: _slots_of_app(stores, view))
        return await self.storage.read_after_expiry(lambda stores: stores.slots.all(view))

    async def delete(self, caller: Caller, owner: Owner, confirm: str) -> Mapping[str, Any]:
        """Erase a persona with all its data; `confirm` must repeat its id."""
        if confirm != owner.persona_id:
            wrong = {"loc": ["body", "confirm"], "msg": "must repeat persona_id", "type": "confirm"}
            raise InvalidInput("To delete a persona, repeat its persona_id in confirm.", [wrong])
        now = self.storage.clock.now()

        def work(stores: Stores) -> Mapping[str, Any]:
            erased = stores.personas.erase(owner, now)
            if not erased:
                raise NotFound(f"There is no persona {owner.persona_id} here.")
            record_event(stores, caller, "persona.delete", owner.persona_id, now)
            queue_refresh(stores, owner, TaskType.ARCHIVE, now, self.archive.options)
            left = stores.memories.find(owner, MemoryFilter(limit=1))
            return {"erased": erased, "remaining": {"memories": len(left)}}

        receipt, exports = await self.exports.write_and_refresh(owner, work)
        archive = await self.archive.forget_persona(owner)
        copies = {"archive": archive, "exports": exports, **await self.pages.forget_persona(owner)}
        residue = await scrub(self.storage, owner, self.archive.options)
        left = {"pending": pending_in(copies, residue), "elsewhere": list(residue.kept)}
        return {**receipt, **copies, **left}

    async def settings(self, user: User) -> UserSettings:
        return await self.storage.read(lambda stores: stores.personas.settings(user))

    async def save_settings(
        self, caller: Caller, time_zone: str | None, language: str | None
    ) -> UserSettings:
        """Change the given settings and keep the others.

        Raise `NotAllowed` for a key bound to one persona: all personas share the settings.
        """
        if caller.key.limits.persona_id:
            raise NotAllowed("This key is bound to one persona: it may not change the settings.")
        now = self.storage.clock.now()

        def work(stores: Stores) -> UserSettings:
            before = stores.personas.settings(caller.user)
            settings = replace(
                before,
                time_zone=before.time_zone if time_zone is None else time_zone,
                language=before.language if language is None else language,
                updated_at=now,
            )
            stores.personas.save_settings(settings)
            record_event(stores, caller, "user.settings", "", now)
            return settings

        return await self.storage.write(work)


def _slots_of_app(stores: Stores, view: Viewpoint) -> list[Slot]:
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        types=SLOT_TYPES,
        realm=view.realm,
        bot_id=None if view.all_bots else view.bot_id,
        only_app=view.only_app,
    )
    by_slot: dict[tuple[str, str], list[Memory]] = {}
    for row in stores.memories.find(view.owner, wanted):
        by_slot.setdefault((row.type.value, row.bot_id), []).append(row)
    slots = [
        build_slot(by_slot[place], max(row.updated_at for row in by_slot[place]))
        for place in sorted(by_slot)
    ]
    return [slot for slot in slots if slot is not None]
