"""What removes something from every place that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.wiring.rooms.conversation import ConversationRoom
from plastic_memories.wiring.rooms.formation import FormationRoom
from plastic_memories.wiring.rooms.pages import PageRoom
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class ErasureRoom:
    forget: ForgetMemory
    delete_session: DeleteSession


def build_erasure(
    context: RoomContext,
    formation: FormationRoom,
    pages: PageRoom,
    conversation: ConversationRoom,
) -> ErasureRoom:
    storage, archive = context.storage, formation.archive
    return ErasureRoom(
        forget=ForgetMemory(storage, archive, formation.exports, pages.forget),
        delete_session=DeleteSession(storage, archive.archive, conversation.timeline),
    )
