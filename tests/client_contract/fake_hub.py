"""A very small hub: it answers what it was told to, and remembers what it was asked."""

from __future__ import annotations

import json
from typing import Any

import httpx


class FakeHub:
    """Answers the routes it knows in the envelope; `requests` holds what came in."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self._answers: dict[tuple[str, str], list[httpx.Response]] = {}
        self._anything: httpx.Response | Exception | None = None

    def knows(self, method: str, path: str, *answers: dict[str, Any]) -> None:
        """Answer with each of `answers` in turn, and with the last one from then on."""
        responses = [
            httpx.Response(200, json={"ok": True, "request_id": "r1", "data": answer})
            for answer in answers
        ]
        self._answers[method, path] = responses

    def says(self, response: httpx.Response | Exception) -> None:
        """Answer everything with this."""
        self._anything = response

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        if isinstance(self._anything, Exception):
            raise self._anything
        if self._anything is not None:
            return _copy(self._anything)
        waiting = self._answers.get((request.method, request.url.path))
        if waiting is None:
            return failure(404, "not_found")
        return _copy(waiting.pop(0) if len(waiting) > 1 else waiting[0])

    @property
    def last(self) -> httpx.Request:
        return self.requests[-1]

    def asked(self) -> dict[str, Any]:
        """Return the fields of the last request, from its body or its address."""
        if self.last.method == "GET":
            return dict(self.last.url.params)
        fields: dict[str, Any] = json.loads(self.last.content)
        return fields


def _copy(response: httpx.Response) -> httpx.Response:
    # One answer object serves one client only; a stream is given out as it is.
    try:
        return httpx.Response(
            response.status_code, headers=response.headers, content=response.content
        )
    except httpx.ResponseNotRead:
        return response


def failure(status: int, code: str, detail: Any = None, **headers: str) -> httpx.Response:
    """Return a failure as the hub says it."""
    error = {"code": code, "message": f"no: {code}", "detail": detail}
    body = {"ok": False, "request_id": "r1", "error": error}
    return httpx.Response(status, json=body, headers=headers)
