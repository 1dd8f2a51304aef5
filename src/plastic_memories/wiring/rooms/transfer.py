"""What comes from elsewhere and goes there: exports, imports, character cards."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.transfer.cards import CharacterCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.wiring.rooms.personas import PersonaRoom
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class TransferRoom:
    transfer: Transfer
    cards: CharacterCards


def build_transfer(context: RoomContext, personas: PersonaRoom) -> TransferRoom:
    storage, screening = context.storage, context.screening
    transfer = Transfer(storage, screening, personas.personas)
    return TransferRoom(transfer, CharacterCards(storage, screening, transfer))
