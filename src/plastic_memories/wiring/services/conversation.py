"""Conversations: messages, sessions, and what is learned while they go on."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.conversation.ingest import IngestConversation
from plastic_memories.hub.conversation.learn_from_conversation import LearnFromConversation
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.conversation.messages import MessageHistory
from plastic_memories.hub.conversation.proxied_conversation import ProxiedConversation
from plastic_memories.hub.conversation.sessions import SessionLifecycle
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.recall import RecallServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class ConversationServices:
    messages: MessageHistory
    timeline: ConversationTimeline
    sessions: SessionLifecycle
    ingest: IngestConversation
    learn: LearnFromConversation
    proxied: ProxiedConversation


def build_conversation(
    context: ServiceContext, formation: FormationServices, recall: RecallServices
) -> ConversationServices:
    storage, screening, judge = context.storage, context.screening, context.plugins.judge
    options, wakeup, exports = context.formation, context.wakeup, formation.exports
    has_model = context.has_model
    messages = MessageHistory(storage, screening, options, wakeup, exports)
    timeline = ConversationTimeline(storage, screening, judge, options, wakeup, exports, has_model)
    return ConversationServices(
        messages=messages,
        timeline=timeline,
        sessions=SessionLifecycle(storage, options, formation.job_runner, wakeup),
        ingest=IngestConversation(storage, screening, judge, messages, has_model),
        learn=LearnFromConversation(
            storage,
            screening,
            judge,
            context.unread_clauses,
            messages if has_model else None,
        ),
        proxied=ProxiedConversation(recall.recall, messages, timeline),
    )
