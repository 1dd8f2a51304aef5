"""Extractor that asks a language model, and checks its answer with rules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx

from plastic_memories.adapters.llm.allowance import DailyTokenBudget
from plastic_memories.adapters.llm.breaker import CircuitBreaker
from plastic_memories.adapters.llm.client import (
    REFUSED_STATUSES,
    ChatClient,
    ChatCompletion,
    ChatEndpoint,
    Messages,
    estimate_prompt_tokens,
)
from plastic_memories.adapters.llm.prompt import REPLY_SCHEMA, messages_for
from plastic_memories.errors import Unavailable
from plastic_memories.language.checking.proposal_check import check_reply, merge_proposals
from plastic_memories.language.checking.reply_parsing import parse_reply
from plastic_memories.language.checking.window_split import split_window
from plastic_memories.model.formation import Proposal, TalkWindow
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.meter import Meter

logger = logging.getLogger(__name__)

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """The price of a million tokens, in any currency the operator uses."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost_of(self, answer: ChatCompletion) -> float:
        return (answer.tokens_in * self.tokens_in + answer.tokens_out * self.tokens_out) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmExtractor:
    client: ChatClient
    breaker: CircuitBreaker
    token_budget: DailyTokenBudget
    meter: Meter
    prices: TokenPrices
    window_tokens: int

    async def propose(self, window: TalkWindow) -> Proposal:
        parts = list(split_window(window, self.window_tokens))
        return merge_proposals([await self._propose_part(part) for part in parts])

    async def _propose_part(self, window: TalkWindow) -> Proposal:
        messages = messages_for(window)
        answer = await self._complete_within_budget(window.owner.tenant_id, messages)
        # On a thread: the rules parse every message again.
        proposal = await asyncio.to_thread(lambda: check_reply(parse_reply(answer.text), window))
        found = replace(proposal, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
        logger.info("model.extract", extra={"fields": _log_fields(window, found)})
        return found

    async def _complete_within_budget(self, tenant_id: str, messages: Messages) -> ChatCompletion:
        wanted = estimate_prompt_tokens(messages)
        await asyncio.to_thread(self.token_budget.check_remaining, wanted)
        self.breaker.acquire()
        try:
            answer = await self.client.complete(messages)
        except Unavailable as error:
            await self._record_failure(tenant_id, error, wanted)
            raise
        except BaseException:
            # Cancelled: a probe that nobody awaits any more must not block the next one.
            self.breaker.release_probe()
            raise
        self.breaker.record_success()
        await self._record_usage(tenant_id, answer)
        return answer

    async def _record_failure(self, tenant_id: str, error: Unavailable, wanted: int) -> None:
        detail = error.detail or {}
        self.meter.count(tenant_id, "memory_model_requests", status="failed")
        logger.warning("model.failed", extra={"fields": {"err": error.message}})
        if detail.get("timed_out"):
            # The request was sent and will be charged, whether or not an answer arrived.
            await asyncio.to_thread(self.token_budget.add_spent_tokens, wanted)
        if detail.get("retry_after_s"):
            self.breaker.open_for(detail["retry_after_s"])
        if detail.get("status") in REFUSED_STATUSES:
            # The request is at fault, not the server: the next window may be answered.
            self.breaker.release_probe()
        else:
            self.breaker.record_failure()

    async def _record_usage(self, tenant_id: str, answer: ChatCompletion) -> None:
        self.meter.count(tenant_id, "memory_model_requests", status="ok")
        self.meter.add(tenant_id, "memory_model_tokens", answer.tokens_in, kind="in")
        self.meter.add(tenant_id, "memory_model_tokens", answer.tokens_out, kind="out")
        self.meter.add(tenant_id, "memory_model_cost", self.prices.cost_of(answer))
        await asyncio.to_thread(
            self.token_budget.add_spent_tokens, answer.tokens_in + answer.tokens_out
        )


def _log_fields(window: TalkWindow, found: Proposal) -> dict[str, Any]:
    return {
        "persona_id": window.owner.persona_id,
        "messages": len(window.messages),
        "drafts": len(found.drafts),
        "dropped": list(found.dropped),
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
    }


class _Context(Protocol):
    """The dependencies of this extractor."""

    @property
    def settings(self) -> Any: ...
    @property
    def meter(self) -> Meter: ...
    @property
    def clock(self) -> Clock: ...


@asynccontextmanager
async def llm_extractor(context: _Context) -> AsyncIterator[Extractor]:
    """Open the extractor of the settings, and close its connections at the end."""
    settings = context.settings
    endpoint = ChatEndpoint(
        url=f"{settings.llm_base_url.rstrip('/')}/chat/completions",
        model=settings.llm_extraction_model or settings.llm_model,
        api_key=settings.llm_api_key,
        timeout_s=settings.llm_timeout_s,
        max_answer_tokens=settings.llm_answer_tokens,
    )
    async with httpx.AsyncClient(timeout=settings.llm_timeout_s) as http:
        yield LlmExtractor(
            client=ChatClient(http, endpoint, REPLY_SCHEMA),
            breaker=CircuitBreaker(context.clock),
            token_budget=DailyTokenBudget(
                settings.data_dir / "model_tokens.json", settings.llm_tokens_per_day, context.clock
            ),
            meter=context.meter,
            prices=TokenPrices(settings.llm_price_in, settings.llm_price_out),
            window_tokens=settings.llm_window_tokens,
        )
