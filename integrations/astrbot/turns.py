"""One turn of a conversation: recall before the reply, store after it."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .hub_link import HubLink
from .hub_problem import HubProblem
from .identity import Identity
from .options import Options
from .outbox import Outbox
from .parcel import Parcel

logger = logging.getLogger("astrbot")
_RECENT = 4
_CONVERSATIONS = 500
_MESSAGES = 100


@dataclass(frozen=True)
class Recalled:
    """Blocks for a prompt: one that stays the same, and one for this turn."""

    stable: str = ""
    turn: str = ""

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.stable, self.turn) if part)


class Turns:
    def __init__(self, options: Options, hub: HubLink, outbox: Outbox) -> None:
        self._options = options
        self._hub = hub
        self._outbox = outbox
        outbox.on_delivered = self._note
        # Messages in AstrBot's own history need not be recalled as well.
        self._in_history: OrderedDict[str, deque[int]] = OrderedDict()

    async def recall(
        self, who: Identity, text: str, contexts: Sequence[Any], conversation: str
    ) -> Recalled:
        """Return the recalled blocks; empty at the deadline or if the hub is unreachable."""
        started = time.monotonic()
        known = list(self._in_history.get(conversation, ()))
        try:
            async with asyncio.timeout(self._options.deadline_s):
                found = await self._hub.recall(who, text, recent_of(contexts), known)
        except (HubProblem, TimeoutError) as problem:
            why = self._why(problem)
            logger.warning(
                "[plastic_memories] 本次回复不带记忆 / no memories %s: %s", self._at(who), why
            )
            return Recalled()
        logger.info(
            "[plastic_memories] recall %s found=%d tokens=%s degraded=%s %d ms",
            self._at(who),
            len(found["PERSONA_MEMORY"]),
            found["tokens"],
            ",".join(found["degraded"]) or "-",
            1000 * (time.monotonic() - started),
        )
        return Recalled(found["stable_block"]["text"], found["turn_block"]["text"])

    def remember(
        self, who: Identity, said: str, reply: str, message_id: str = "", conversation: str = ""
    ) -> None:
        """Queue a turn in the outbox; a failure there never delays the reply."""
        number = message_id or uuid.uuid4().hex
        now = time.time()
        # In a group the speaker is stored, so that a message names its author.
        speaker = {"speaker": who.user_id} if who.is_group else {}
        lines = [
            {"role": "user", "content": said, "client_msg_id": number, "ts": now, **speaker},
            {"role": "assistant", "content": reply, "client_msg_id": f"{number}:reply", "ts": now},
        ]
        messages = [one for one in lines if str(one["content"]).strip()]
        if not messages or not who.sender_id:
            return
        self._outbox.put(Parcel(who, messages, conversation))
        logger.info("[plastic_memories] remember %s messages=%d", self._at(who), len(messages))

    def _note(self, conversation: str, message_ids: Iterable[int]) -> None:
        if not conversation:
            return
        noted = self._in_history.setdefault(conversation, deque(maxlen=_MESSAGES))
        noted.extend(message_ids)
        self._in_history.move_to_end(conversation)
        while len(self._in_history) > _CONVERSATIONS:
            self._in_history.popitem(last=False)

    def _why(self, problem: HubProblem | TimeoutError) -> str:
        if isinstance(problem, HubProblem):
            return problem.explanation(self._options.language, self._options.hub_url)
        return "timeout"

    def _at(self, who: Identity) -> str:
        filters = self._options.filters
        key = who.key(use_bot_isolation=filters.use_bot_isolation)
        return f"id={key} user={who.user_id} persona={self._options.persona_of(who)} {filters}"


def recent_of(contexts: Sequence[Any]) -> list[dict[str, str]]:
    """Return the last text lines of a conversation in OpenAI's format."""
    lines: list[dict[str, str]] = []
    for message in contexts[-_RECENT:]:
        if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
            continue
        content = message.get("content")
        if isinstance(content, list):
            texts = [part.get("text", "") for part in content if isinstance(part, Mapping)]
            content = "\n".join(text for text in texts if text)
        if isinstance(content, str) and content.strip():
            lines.append({"role": str(message["role"]), "content": content[:2000]})
    return lines
