"""One turn of a conversation that passes through: what it is told, and what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from plastic_memories.http.caller_context import Call
from plastic_memories.http.doors.openai.chat_request import (
    DEFAULT_APP,
    DEFAULT_PERSONA,
    ChatRequest,
    Identity,
    Wishes,
    checked_name,
    conversation,
)
from plastic_memories.http.doors.openai.injection import Place, injected
from plastic_memories.http.doors.openai.relay import Passed
from plastic_memories.http.doors.openai.reply_reading import reply_in
from plastic_memories.http.doors.openai.rewrite import Rewriting, rewritten
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.routes.recall import measure
from plastic_memories.hub.conversation.proxied_conversation import Exchange
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.message import Role
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import RecallQuery, Recollection
from plastic_memories.rules.conversation.history_diff import Line, continued

T = TypeVar("T")
# What an answer says of the memory in it; pages of other origins may read it.
_DEGRADED, _TOKENS, _IDS = MEMORY_HEADERS = (
    "X-Memory-Degraded",
    "X-Memory-Tokens",
    "X-Memory-Ids",
)
_OFF = "off"
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Told:
    """What memory adds to a request."""

    messages: str | None = None  # as JSON; None where nothing is added
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What memory is asked: the last thing the user said, and what led up to it."""

    text: str
    before: Sequence[Line]
    asked_at: float
    rewriting: Rewriting | None


@dataclass(frozen=True, slots=True)
class Turn:
    call: Call
    chat: ChatRequest
    view: Viewpoint
    question: Question
    lines: Sequence[Line]
    begun: str  # the beginning of the reply, if the client made one

    async def remember(self, upstream: Upstream) -> Told:
        """Recall what bears on it, in time or not at all."""
        also, late = await self._other_words(upstream)
        started = time.perf_counter()
        found, degraded = await self.call.hub.converse.remember(self._query(also))
        names = ",".join((*late, *degraded))
        headers = {_DEGRADED: names} if names else {}
        if found is None:
            return Told(headers=headers)
        measure(self.call, found, time.perf_counter() - started)
        return Told(self._with(found), {**headers, **_account(found)})

    def keep(self, passed: Passed) -> None:
        """Have the last message and the reply stored, in the background."""
        if self.call.caller.key.limits.read_only:
            return
        reply = reply_in(bytes(passed.body), streamed=passed.is_stream)
        most = self.call.options.max_content_chars
        exchange = Exchange(
            caller=self.call.caller,
            view=self.view,
            sent=[replace(line, text=line.text[:most]) for line in self.lines],
            reply=continued(self.begun, reply)[:most] if reply else "",
            asked_at=self.question.asked_at,
        )
        self.call.hub.converse.keep(exchange)

    def _with(self, found: Recollection) -> str | None:
        stable, turn = found.stable_block.text, found.turn_block
        if not stable and not turn:
            return None
        options = self.call.options.proxy
        place = Place(options.position, options.depth, options.role)
        return injected(self.chat.part("messages"), stable, turn, place)

    def _query(self, also: tuple[str, ...]) -> RecallQuery:
        question, options = self.question, self.call.options.proxy
        return RecallQuery(
            viewpoint=self.view,
            text=question.text,
            now=question.asked_at,
            budget_tokens=options.budget_tokens,
            recent=tuple((line.role.value, line.text) for line in question.before),
            also=also,
            shown=frozenset(line.text for line in self.lines),
            deadline_s=options.recall_s,
        )

    async def _other_words(self, upstream: Upstream) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the question in a model's words if that is wished for; name it if it failed."""
        question = self.question
        if question.rewriting is None or not question.text:
            return (), ()
        lines = [*question.before, Line(Role.USER, question.text)]
        found = await rewritten(upstream, question.rewriting, lines)
        return ((found,), ()) if found else ((), ("rewrite",))


def turn_of(call: Call, chat: ChatRequest, identity: Identity) -> Turn | None:
    """Return the turn a request is part of; None if memory has no part in it."""
    messages = chat.messages
    if messages is None or identity.memory.lower() == _OFF:
        return None
    lines, begun = conversation(messages)
    question = _question(call, chat.wishes, lines, chat.upstream_model(identity))
    return Turn(call, chat, _view(call, identity), question, lines, begun)


def _view(call: Call, identity: Identity) -> Viewpoint:
    limits = call.caller.key.limits
    persona_id = identity.persona_id or limits.persona_id or DEFAULT_PERSONA
    return Viewpoint(
        owner=call.owner(checked_name("persona_id", persona_id)),
        bot_id=checked_name("bot_id", identity.bot_id),
        session_id=checked_name("session_id", identity.session_id),
        source_app=checked_name("source_app", call.app(identity.source_app) or DEFAULT_APP),
        only_app=limits.source_app,
    )


def _question(call: Call, wishes: Wishes, lines: Sequence[Line], model: str) -> Question:
    options = call.options.proxy
    users = [place for place, line in enumerate(lines) if line.role is Role.USER]
    last = users[-1] if users else 0
    most = _first(wishes.context_messages, options.context_messages)
    max_chars = min(_first(wishes.max_query_chars, _LONGEST), call.options.max_query_chars)
    rewriting = Rewriting(
        prompt=wishes.prompt or options.rewrite_prompt,
        model=wishes.model or options.rewrite_model or model,
        timeout_s=_first(wishes.timeout_s, options.rewrite_s),
        max_chars=max_chars,
    )
    return Question(
        text=lines[last].text[-max_chars:] if users else "",
        before=lines[max(last - most, 0) : last],
        asked_at=call.now(),
        rewriting=rewriting if _first(wishes.rewrite, options.rewrite) else None,
    )


def _first(given: T | None, default: T) -> T:
    return default if given is None else given


def _account(found: Recollection) -> dict[str, str]:
    """Say in headers what was added."""
    # The stable block is the same from call to call, so its tokens are known.
    tokens = {_TOKENS: str(estimate_tokens(found.stable_block.text) + found.turn_tokens)}
    ids = ",".join(str(hit.memory.id) for hit in found.hits)
    return {**tokens, _IDS: ids} if ids else tokens
