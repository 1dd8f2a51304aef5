"""What removes something from every place that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.erase_user import EraseUser
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.model.job import TaskType
from plastic_memories.wiring.services.conversation import ConversationServices
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.pages import PageServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class ErasureServices:
    forget: ForgetMemory
    delete_session: DeleteSession
    erase_user: EraseUser


def build_erasure(
    context: ServiceContext,
    formation: FormationServices,
    pages: PageServices,
    conversation: ConversationServices,
) -> ErasureServices:
    storage, archive = context.storage, formation.archive
    erase_user = EraseUser(storage, formation.jobs, archive.archive, pages.forget)
    formation.job_runner.handlers[TaskType.ERASE_USER] = erase_user.run_job
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
        erase_user=erase_user,
    )
