"""A caller of the mem0 door: plain requests, answers that are not enveloped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import httpx

from harness import Api


@dataclass(frozen=True)
class Mem0:
    http: httpx.AsyncClient
    key: str | None = "devkey"

    @classmethod
    def of(cls, api: Api, key: str | None = "devkey") -> Mem0:
        return cls(api.http, key)

    def with_key(self, key: str | None) -> Mem0:
        return replace(self, key=key)

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Token {self.key}"} if self.key else {}
        return await self.http.request(method, path, headers=headers, **more)

    async def did(self, method: str, path: str, **more: Any) -> Any:
        """Send, and return what a success holds."""
        answer = await self.send(method, path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def refused(self, status: int, method: str, path: str, **more: Any) -> Any:
        """Send, and return the reason of a refusal."""
        answer = await self.send(method, path, **more)
        assert answer.status_code == status, answer.text
        body = answer.json()
        assert set(body) == {"detail"}
        assert body["detail"]
        return body["detail"]

    async def add(self, *said: str, infer: bool = False, **more: Any) -> list[dict[str, Any]]:
        """Add messages of the user, word for word unless told otherwise."""
        messages = [{"role": "user", "content": text} for text in said]
        body = {"messages": messages, "infer": infer, **more}
        results: list[dict[str, Any]] = (await self.did("POST", "/memories", json=body))["results"]
        return results

    async def id_of(self, said: str, **more: Any) -> str:
        [added] = await self.add(said, **more)
        return str(added["id"])

    async def found(self, query: str, **more: Any) -> list[str]:
        """Return the texts of what a search finds."""
        found = await self.did("POST", "/search", json={"query": query, **more})
        return [row["memory"] for row in found["results"]]

    async def listed(self, **filters: Any) -> list[str]:
        page = await self.did("POST", "/v3/memories/", json={"filters": filters})
        return [row["memory"] for row in page["results"]]
