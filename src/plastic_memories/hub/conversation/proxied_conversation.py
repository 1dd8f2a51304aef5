"""Memory for a proxied conversation: recall before a reply, store the exchange after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from plastic_memories.errors import Unavailable
from plastic_memories.hub.conversation.message_changes import ConversationTimeline, MessageReference
from plastic_memories.hub.conversation.messages import MessageHistory
from plastic_memories.hub.recall.recall import Recall
from plastic_memories.model.key import Caller
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import RecallQuery, Recollection
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.history_diff import (
    HistoryLine,
    diff_history,
    without_thoughts,
)

logger = logging.getLogger(__name__)
# The searches get this share of the deadline; the rest is left for the answer.
_RECALL_DEADLINE_SHARE = 0.9
# How many of the last messages are compared with the history a client sends.
_TAIL_LENGTH = 16
# While the database is unavailable, messages wait in memory and are retried after these delays.
_RETRY_DELAYS_S = (1.0, 5.0, 25.0)
_ATTEMPT_TIMEOUT_S = 30.0
# At shutdown the hub waits this long for messages that are still to be stored.
_DRAIN_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request of a client that sends its whole history, and the reply to it."""

    caller: Caller
    view: Viewpoint
    sent: Sequence[HistoryLine]
    reply: str
    asked_at: float


@dataclass(frozen=True, slots=True)
class ProxiedConversation:
    recall: Recall
    messages: MessageHistory
    timeline: ConversationTimeline
    _store_tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _locks: WeakValueDictionary[Viewpoint, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )
    _closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def recall_or_degrade(
        self, query: RecallQuery
    ) -> tuple[Recollection | None, tuple[str, ...]]:
        """Recall within the query's deadline, and never raise; return what is degraded."""
        try:
            async with asyncio.timeout(query.deadline_s):
                found = await self.recall(
                    replace(
                        query,
                        realm_of_session=bool(query.viewpoint.session_id),
                        deadline_s=query.deadline_s * _RECALL_DEADLINE_SHARE,
                    )
                )
        except (TimeoutError, Unavailable):
            logger.warning("memory.recall", extra={"fields": {"part": "converse"}})
            return None, ("memory",)
        except Exception:
            # A reply without memories is better than no reply.
            logger.exception("memory.recall", extra={"fields": {"part": "converse"}})
            return None, ("memory",)
        return found, found.degraded

    def store_in_background(self, exchange: Exchange) -> None:
        """Store the new messages of an exchange in a background task."""
        task = asyncio.create_task(self._store_in_order(exchange), name="keep")
        self._store_tasks.add(task)
        task.add_done_callback(self._store_tasks.discard)

    async def drain(self) -> None:
        """Wait until all pending messages are stored; cancel and log those that cannot be."""
        self._closing.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_TIMEOUT_S):
                await self.wait_until_stored()
        lost = set(self._store_tasks)
        for task in lost:
            task.cancel()
        await asyncio.gather(*lost, return_exceptions=True)

    async def wait_until_stored(self) -> None:
        """Wait until all messages that are pending now are stored."""
        while self._store_tasks:
            await asyncio.wait(set(self._store_tasks))

    async def _store_in_order(self, exchange: Exchange) -> None:
        # In order: the next exchange is diffed against the messages this one stores.
        lock = self._locks.setdefault(exchange.view, asyncio.Lock())
        try:
            async with lock:
                await self._store_with_retries(exchange)
        except asyncio.CancelledError:
            logger.error("messages.lost", extra={"fields": _log_fields(exchange)})  # noqa: TRY400
            raise
        except Exception:
            # Nobody awaits this task: without the log its error would be lost.
            logger.exception("messages.lost", extra={"fields": _log_fields(exchange)})

    async def _store_with_retries(self, exchange: Exchange) -> None:
        for wait_s in _RETRY_DELAYS_S:
            try:
                async with asyncio.timeout(_ATTEMPT_TIMEOUT_S):
                    return await self._store(exchange)
            except (Unavailable, TimeoutError):
                logger.warning("messages.waiting", extra={"fields": _log_fields(exchange)})
            await _wait_for(self._closing, wait_s)
        return await self._store(exchange)

    async def _store(self, exchange: Exchange) -> None:
        view, caller = exchange.view, exchange.caller
        sent = [
            replace(line, text=self._masked_text(view, line))
            for line in exchange.sent[-_TAIL_LENGTH:]
        ]
        reply = self._masked_text(
            view, HistoryLine(Role.ASSISTANT, without_thoughts(exchange.reply))
        )
        diff = diff_history(
            await self._last_messages(view), sent, reply, named=bool(view.session_id)
        )
        for message_id, text in diff.edits:
            which = MessageReference(view=view, message_id=message_id)
            await self.timeline.edit(caller, which, text, replaced=True)
        for message_id in diff.drops:
            await self.timeline.delete(caller, MessageReference(view=view, message_id=message_id))
        if diff.appends:
            rows = [_message(view, line, exchange.asked_at) for line in diff.appends]
            await self.messages.append(caller, view.owner, rows)

    def _masked_text(self, view: Viewpoint, line: HistoryLine) -> str:
        """Return a text as it would be stored, to compare it with stored messages."""
        return self.messages.screening.mask_message(_message(view, line, 0.0)).content

    async def _last_messages(self, view: Viewpoint) -> list[Message]:
        wanted = MessageFilter(
            session_id=view.session_id,
            source_app=view.source_app,
            bot_id=view.bot_id,
            limit=_TAIL_LENGTH,
        )
        found = await self.messages.find(view.owner, wanted)
        return [row for row in reversed(found) if row.branch_id == view.branch_id]


def _message(view: Viewpoint, line: HistoryLine, ts: float) -> Message:
    return Message(
        owner=view.owner,
        role=line.role,
        content=line.text,
        ts=ts,
        session_id=view.session_id,
        source_app=view.source_app,
        bot_id=view.bot_id,
        branch_id=view.branch_id,
    )


def _log_fields(exchange: Exchange) -> dict[str, str]:
    return {
        "user_id": exchange.view.owner.user_id,
        "persona_id": exchange.view.owner.persona_id,
        "session_id": exchange.view.session_id,
    }


async def _wait_for(event: asyncio.Event, timeout_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
