"""What removes something from every place that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.wiring.services.conversation import ConversationServices
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.pages import PageServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class ErasureServices:
    forget: ForgetMemory
    delete_session: DeleteSession


def build_erasure(
    context: ServiceContext,
    formation: FormationServices,
    pages: PageServices,
    conversation: ConversationServices,
) -> ErasureServices:
    storage, archive = context.storage, formation.archive
    return ErasureServices(
        forget=ForgetMemory(
            storage,
            archive,
            formation.exports,
            pages.forget,
            context.plugins.judge,
            conversation.timeline,
        ),
        delete_session=DeleteSession(storage, archive.archive, conversation.timeline),
    )
