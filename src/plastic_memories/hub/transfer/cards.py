"""Import character cards, and export personas as cards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import BodyTooLarge, NotFound
from plastic_memories.formats.card_memories import card_document, card_template, lore_entry_count
from plastic_memories.formats.character_card import CardFormat, dump_compact, read_card, write_card
from plastic_memories.formats.export_signature import is_own, signature
from plastic_memories.hub.personas.templates import (
    TemplateOutcome,
    apply_in_slices,
    template_plan,
)
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transfer.import_progress import ImportReport
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.model.card import Card
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.persona import Template
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter

# Other kinds of lines in a card are not about one persona.
_BUNDLED_KINDS = ("memory", "goal")
_NO_REPORT = ImportReport({}, [], [], is_trusted=False)


@dataclass(frozen=True, slots=True)
class CardImportOutcome:
    template: Template
    applied: TemplateOutcome
    bundled: int  # rows that came with the card, imported or not
    report: ImportReport


@dataclass(frozen=True, slots=True)
class CharacterCards:
    storage: AuditedStorage
    screening: Screening
    transfer: Transfer
    max_entries: int = 5_000

    async def import_card(
        self, caller: Caller, owner: Owner, raw: bytes, *, overwrite: bool, memories: bool
    ) -> CardImportOutcome:
        """Create a persona from a card; with `memories`, import its memories as well.

        A stranger's card may claim anything about the user, so its memories are imported only on
        request, and those that would be in every prompt become candidates.
        """
        # On a thread: a large picture takes a moment and would block other requests.
        card, rows = await asyncio.to_thread(read_card, raw)
        self._check_entries(card)
        template = await asyncio.to_thread(card_template, "", card)
        plan = await asyncio.to_thread(template_plan, template, self.screening)
        lines = _export_lines(owner, rows) if memories else []
        secret = await self.transfer.secret()
        trusted = bool(lines) and await asyncio.to_thread(is_own, secret, owner.user, rows)
        bundled = sum(row.get("kind") in _BUNDLED_KINDS for row in rows)
        # Memories first: what the owner has changed since is newer than the card.
        report = _NO_REPORT
        if lines:
            report = await self.transfer.run_import(caller, lines, dry_run=False, trust=trusted)
        applied = await apply_in_slices(self.storage, caller, owner, plan, overwrite=overwrite)
        return CardImportOutcome(template, applied, bundled, report)

    def _check_entries(self, card: Card) -> None:
        """Raise `BodyTooLarge` for a card with more lore entries than allowed."""
        if lore_entry_count(card) > self.max_entries:
            raise BodyTooLarge(
                f"The card has more than {self.max_entries} lore entries; "
                "PLASTIC_MEMORIES_MAX_CARD_ENTRIES is the limit.",
                {"limit": self.max_entries, "setting": "PLASTIC_MEMORIES_MAX_CARD_ENTRIES"},
            )

    async def export_card(
        self, caller: Caller, owner: Owner, file_format: CardFormat, *, memories: bool
    ) -> tuple[str, bytes]:
        """Return a persona's name and its card; with `memories`, all its memories are included."""
        app = caller.key.limits.source_app
        name, card = await self.storage.read(lambda stores: _persona_card(stores, owner, app))
        rows: list[Mapping[str, Any]] | None = None
        if memories:
            rows = [row async for row in self.transfer.persona_rows(owner, app)]
            rows.append(signature(await self.transfer.secret(), owner.user, rows))
        return name, await asyncio.to_thread(write_card, card, file_format, rows)


def _export_lines(owner: Owner, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return bundled rows as export lines of this persona, whatever persona they had."""
    return [
        json.dumps({**row, "persona_id": owner.persona_id})
        for row in rows
        if row.get("kind") in _BUNDLED_KINDS
    ]


def _persona_card(stores: Stores, owner: Owner, app: str) -> tuple[str, Card]:
    persona = stores.personas.get(owner)
    if persona is None:
        raise NotFound(f"There is no persona {owner.persona_id} here.")
    name = persona.display_name or owner.persona_id
    original = stores.cards.get(owner)
    if original is not None:
        return name, read_card(original)[0]
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        types={MemoryType.PERSONA, MemoryType.RULE, MemoryType.GLOSSARY},
        bot_id="",
        only_app=app or None,
    )
    # A card is shared with others: what was learned in conversations stays out of it.
    stated = [
        row
        for row in stores.memories.find(owner, wanted)
        if not row.source_message_ids and row.source_type is not SourceType.MODEL_INFERRED
    ]
    document = card_document(persona, stated)
    return name, Card(dump_compact(document), document)
