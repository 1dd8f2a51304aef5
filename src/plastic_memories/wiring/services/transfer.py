"""What comes from elsewhere and goes there: exports, imports, character cards."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.transfer.cards import CharacterCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.wiring.services.personas import PersonaServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class TransferServices:
    transfer: Transfer
    cards: CharacterCards


def build_transfer(context: ServiceContext, personas: PersonaServices) -> TransferServices:
    storage, screening, settings = context.storage, context.screening, context.settings
    transfer = Transfer(storage, screening, personas.personas, settings.max_import_entries)
    return TransferServices(
        transfer, CharacterCards(storage, screening, transfer, settings.max_card_entries)
    )
