"""Callers of the proxy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from harness import Api

CHAT = "/v1/chat/completions"
Json = dict[str, Any]
# A busy machine must not look like a memory that fails; jobs are run when a test says so.
PATIENT = {"proxy_recall_ms": "20000", "worker": "off"}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def assistant(text: str | None, **more: Any) -> Json:
    return {"role": "assistant", "content": text, **more}


def system(text: str) -> Json:
    return {"role": "system", "content": text}


@dataclass(frozen=True)
class Client:
    """A client of OpenAI's interface whose base address is the hub."""

    api: Api
    key: str = "devkey"
    headers: Mapping[str, str | bytes] = field(default_factory=lambda: {"X-Persona-Id": "p1"})

    def with_(self, **headers: str | bytes) -> Client:
        """Return the same client with other headers: `persona_id` is X-Persona-Id."""
        named = {f"X-{name.replace('_', '-')}": value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})

    async def post(self, body: bytes | Json) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}", **self.headers}
        headers["Content-Type"] = "application/json"
        sent: Json = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = await self.api.http.post(CHAT, headers=headers, **sent)
        assert self.api.hub is not None
        await self.api.hub.proxied_conversation.wait_until_stored()
        return answer

    async def chat(self, *messages: Json, **more: Any) -> httpx.Response:
        """Send a conversation; it must succeed."""
        answer = await self.post({"model": "m1", "messages": list(messages), **more})
        assert answer.status_code == 200, answer.text
        return answer

    async def kept(self, **where: Any) -> list[tuple[str, str]]:
        """Return what the hub has kept, oldest first."""
        found = await self.api.saw("/messages/recent", limit=200, **where)
        return [(row["role"], row["content"]) for row in reversed(found["messages"])]
