"""What removes something from every place that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.erase_user import EraseUser
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.hub.erasure.forget_on_request import QUESTION_PREFIX, ForgetOnRequest
from plastic_memories.hub.erasure.pending_forgets import PendingForgets
from plastic_memories.model.job import TaskType
from plastic_memories.wiring.services.conversation import ConversationServices
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.memories import MemoryServices
from plastic_memories.wiring.services.pages import PageServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class ErasureServices:
    forget: ForgetMemory
    delete_session: DeleteSession
    erase_user: EraseUser
    forget_on_request: ForgetOnRequest
    pending_forgets: PendingForgets


def build_erasure(
    context: ServiceContext,
    formation: FormationServices,
    pages: PageServices,
    conversation: ConversationServices,
    memories: MemoryServices,
) -> ErasureServices:
    storage, archive = context.storage, formation.archive
    erase_user = EraseUser(storage, formation.jobs, archive.archive, pages.forget)
    on_request = ForgetOnRequest(storage, context.plugins.judge, conversation.timeline)
    pending = PendingForgets(storage, conversation.timeline, archive, pages.forget)
    formation.job_runner.handlers[TaskType.ERASE_USER] = erase_user.run_job
    formation.job_runner.handlers[TaskType.FORGET] = pending.run_job
    formation.job_runner.digest.before_reading.append(on_request)
    memories.review.answers[QUESTION_PREFIX.rstrip(".")] = on_request.answer_question
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
        forget_on_request=on_request,
        pending_forgets=pending,
    )
