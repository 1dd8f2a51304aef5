"""What comes from elsewhere and goes there: exports, imports, character cards."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.transfer.cards import CharacterCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.hub.transfer.undo_import import UndoImport
from plastic_memories.wiring.services.personas import PersonaServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class TransferServices:
    transfer: Transfer
    cards: CharacterCards
    undo_import: UndoImport


def build_transfer(context: ServiceContext, personas: PersonaServices) -> TransferServices:
    storage, screening, settings = context.storage, context.screening, context.settings
    transfer = Transfer(storage, screening, personas.personas, settings.max_import_entries)
    cards = CharacterCards(storage, screening, transfer, settings.max_card_entries)
    return TransferServices(transfer, cards, UndoImport(storage))
