"""One proxied chat turn: recall memories for it, and store its new messages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from plastic_memories.http.caller_context import ApiCall
from plastic_memories.http.doors.openai.chat_request import (
    DEFAULT_APP,
    DEFAULT_PERSONA,
    ChatRequest,
    Identity,
    RewriteOverrides,
    conversation_lines,
    validate_name,
)
from plastic_memories.http.doors.openai.injection import InjectionPoint, inject_memory
from plastic_memories.http.doors.openai.relay import RelayedReply
from plastic_memories.http.doors.openai.reply_text import reply_text
from plastic_memories.http.doors.openai.rewrite import RewriteOptions, rewrite_question
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.routes.recall import record_recall
from plastic_memories.hub.conversation.proxied_conversation import Exchange
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.message import Role
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import RecallQuery, Recollection
from plastic_memories.rules.conversation.history_diff import HistoryLine, complete_reply

T = TypeVar("T")
# Response headers about the injected memory; CORS exposes them to other origins.
_DEGRADED, _TOKENS, _IDS = MEMORY_HEADERS = (
    "X-Memory-Degraded",
    "X-Memory-Tokens",
    "X-Memory-Ids",
)
_OFF = "off"
_MAX_TEXT_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class MemoryInjection:
    """What memory adds to a request."""

    messages: str | None = None  # as JSON; None if nothing is added
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """The recall query of a turn: the last user message, and the messages before it."""

    text: str
    preceding_lines: Sequence[HistoryLine]
    asked_at: float
    rewrite_options: RewriteOptions | None


@dataclass(frozen=True, slots=True)
class ChatTurn:
    call: ApiCall
    chat: ChatRequest
    view: Viewpoint
    question: ChatQuestion
    lines: Sequence[HistoryLine]
    reply_prefix: str  # the start of the reply, if the client supplied one

    async def recall_memory(self, upstream: Upstream) -> MemoryInjection:
        """Recall relevant memories within the deadline, or none."""
        also, late = await self._rewritten_queries(upstream)
        started = time.perf_counter()
        found, degraded = await self.call.hub.proxied_conversation.recall_or_degrade(
            self._recall_query(also)
        )
        # A file that is too long for the prompt is left out in part.
        names = ",".join((*late, *degraded, *(found.cut if found else ())))
        headers = {_DEGRADED: names} if names else {}
        if found is None:
            return MemoryInjection(headers=headers)
        record_recall(self.call, found, time.perf_counter() - started)
        return MemoryInjection(
            self._messages_with_memory(found), {**headers, **_memory_headers(found)}
        )

    def store_exchange(self, passed: RelayedReply) -> None:
        """Store the last message and the reply in the background."""
        if self.call.caller.key.limits.read_only:
            return
        reply = reply_text(bytes(passed.body), streamed=passed.is_stream)
        max_chars = self.call.options.max_content_chars
        exchange = Exchange(
            caller=self.call.caller,
            view=self.view,
            sent=[replace(line, text=line.text[:max_chars]) for line in self.lines],
            reply=complete_reply(self.reply_prefix, reply)[:max_chars] if reply else "",
            asked_at=self.question.asked_at,
        )
        self.call.hub.proxied_conversation.store_in_background(exchange)

    def _messages_with_memory(self, found: Recollection) -> str | None:
        stable, turn = found.stable_block.text, found.turn_block
        if not stable and not turn:
            return None
        options = self.call.options.proxy
        place = InjectionPoint(options.position, options.depth, options.role)
        return inject_memory(self.chat.raw_value("messages"), stable, turn, place)

    def _recall_query(self, also: tuple[str, ...]) -> RecallQuery:
        question, options = self.question, self.call.options.proxy
        return RecallQuery(
            viewpoint=self.view,
            text=question.text,
            now=question.asked_at,
            budget_tokens=options.budget_tokens,
            recent=tuple((line.role.value, line.text) for line in question.preceding_lines),
            rephrasings=also,
            shown_texts=frozenset(line.text for line in self.lines),
            deadline_s=options.recall_s,
        )

    async def _rewritten_queries(
        self, upstream: Upstream
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the rewritten query if rewriting is on; if it failed, its name for `degraded`."""
        question = self.question
        if question.rewrite_options is None or not question.text:
            return (), ()
        lines = [*question.preceding_lines, HistoryLine(Role.USER, question.text)]
        found = await rewrite_question(upstream, question.rewrite_options, lines)
        return ((found,), ()) if found else ((), ("rewrite",))


def parse_turn(call: ApiCall, chat: ChatRequest, identity: Identity) -> ChatTurn | None:
    """Return the turn of a request; None if memory is off or there are no messages."""
    messages = chat.messages
    if messages is None or identity.memory.lower() == _OFF:
        return None
    lines, begun = conversation_lines(messages)
    question = _chat_question(call, chat.rewrite_overrides, lines, chat.upstream_model(identity))
    return ChatTurn(call, chat, _viewpoint(call, identity), question, lines, begun)


def _viewpoint(call: ApiCall, identity: Identity) -> Viewpoint:
    limits = call.caller.key.limits
    persona_id = identity.persona_id or limits.persona_id or DEFAULT_PERSONA
    return Viewpoint(
        owner=call.owner(validate_name("persona_id", persona_id)),
        bot_id=validate_name("bot_id", identity.bot_id),
        session_id=validate_name("session_id", identity.session_id),
        source_app=validate_name("source_app", call.app(identity.source_app) or DEFAULT_APP),
        only_app=limits.source_app,
    )


def _chat_question(
    call: ApiCall, overrides: RewriteOverrides, lines: Sequence[HistoryLine], model: str
) -> ChatQuestion:
    options = call.options.proxy
    users = [place for place, line in enumerate(lines) if line.role is Role.USER]
    last = users[-1] if users else 0
    context_size = _first_given(overrides.context_messages, options.context_messages)
    max_chars = min(
        _first_given(overrides.max_query_chars, _MAX_TEXT_CHARS), call.options.max_query_chars
    )
    rewriting = RewriteOptions(
        prompt=overrides.prompt or options.rewrite_prompt,
        model=overrides.model or options.rewrite_model or model,
        timeout_s=_first_given(overrides.timeout_s, options.rewrite_s),
        max_chars=max_chars,
    )
    return ChatQuestion(
        text=lines[last].text[-max_chars:] if users else "",
        preceding_lines=lines[max(last - context_size, 0) : last],
        asked_at=call.now(),
        rewrite_options=rewriting if _first_given(overrides.rewrite, options.rewrite) else None,
    )


def _first_given(given: T | None, default: T) -> T:
    return default if given is None else given


def _memory_headers(found: Recollection) -> dict[str, str]:
    """Return headers that describe what was added."""
    # The stable block is the same from call to call, so its token count is cached.
    tokens = {_TOKENS: str(estimate_tokens(found.stable_block.text) + found.turn_tokens)}
    ids = ",".join(str(hit.memory.id) for hit in found.hits)
    return {**tokens, _IDS: ids} if ids else tokens
