"""Client for OpenAI-compatible chat completions: one request, one answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx

from plastic_memories.errors import Unavailable
from plastic_memories.language.text.token_count import estimate_tokens

Messages: TypeAlias = Sequence[Mapping[str, str]]

_MAX_BODY_BYTES = 1024 * 1024
# Statuses with which these servers reject an unknown field of the request.
_UNSUPPORTED_FORMAT_STATUSES = frozenset({400, 415, 422, 501})
# The request itself is at fault: the same one is never answered.
REFUSED_STATUSES = frozenset({400, 413, 415, 422})
_TOO_MANY_REQUESTS = 429
_OK = 200
_MAX_RETRY_AFTER_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """The address of a model, and the limits of a request."""

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    max_answer_tokens: int = 2000

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """The model's answer and its token usage; estimated if the server does not report it."""

    text: str
    tokens_in: int
    tokens_out: int


class ChatClient:
    """Requests the strictest response format the server supports, and remembers which one."""

    def __init__(self, http: httpx.AsyncClient, endpoint: ChatEndpoint, schema: Mapping[str, Any]):
        self._http = http
        self._endpoint = endpoint
        self._formats: tuple[Mapping[str, Any] | None, ...] = (
            {
                "type": "json_schema",
                "json_schema": {"name": "memories", "strict": True, "schema": schema},
            },
            {"type": "json_object"},
            None,
        )
        self._first = 0

    async def complete(self, messages: Messages) -> ChatCompletion:
        """Return the answer; raise `Unavailable` with the server's status, if any, in `detail`.

        `refused` in it says that the server is well, and only this request cannot be answered.
        """
        try:
            # httpx limits each read, not their sum: a slow stream could hold us for ever.
            async with asyncio.timeout(self._endpoint.timeout_s):
                return await self._complete(messages)
        except TimeoutError:
            raise Unavailable("The model did not answer in time.", {"timed_out": True}) from None
        except httpx.HTTPError as error:
            raise Unavailable(f"The model cannot be reached ({type(error).__name__}).") from error

    async def _complete(self, messages: Messages) -> ChatCompletion:
        status, headers = 0, httpx.Headers()
        for index in range(self._first, len(self._formats)):
            status, headers, body = await self._post(messages, self._formats[index])
            if status == _OK:
                self._first = index
                return _parse_completion(body, messages)
            if status not in _UNSUPPORTED_FORMAT_STATUSES:
                break
        detail: dict[str, Any] = {"status": status, "refused": status in REFUSED_STATUSES}
        if status == _TOO_MANY_REQUESTS:
            detail["retry_after_s"] = _retry_after_seconds(headers.get("Retry-After", ""))
        raise Unavailable(f"The model answered with status {status}.", detail)

    async def _post(
        self, messages: Messages, answer_format: Mapping[str, Any] | None
    ) -> tuple[int, httpx.Headers, bytes]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": list(messages),
            "temperature": 0,
            "max_tokens": self._endpoint.max_answer_tokens,
            "stream": False,
        }
        if answer_format is not None:
            body["response_format"] = answer_format
        async with self._http.stream(
            "POST", self._endpoint.url, json=body, headers=self._endpoint.headers
        ) as response:
            return response.status_code, response.headers, await _read_limited(response)


async def _read_limited(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MAX_BODY_BYTES:
            detail = {"status": response.status_code, "refused": True}
            raise Unavailable("The model's answer is too large.", detail)
    return bytes(body)


def _parse_completion(body: bytes, messages: Messages) -> ChatCompletion:
    try:
        data = json.loads(body)
        text = _message_text(data["choices"][0]["message"].get("content"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Unavailable("The model's server sent something else than an answer.") from None
    usage = data.get("usage")
    spent = usage if isinstance(usage, dict) else {}
    return ChatCompletion(
        text,
        _token_count(spent.get("prompt_tokens"), estimate_prompt_tokens(messages)),
        _token_count(spent.get("completion_tokens"), estimate_tokens(text)),
    )


def _message_text(content: object) -> str:
    """Return the text of a message; some servers send it in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _token_count(given: object, estimate: int) -> int:
    is_count = isinstance(given, int) and not isinstance(given, bool) and given >= 0
    return int(given) if is_count and isinstance(given, int) else estimate


def estimate_prompt_tokens(messages: Messages) -> int:
    """Return the estimated number of tokens of a prompt."""
    return sum(estimate_tokens(message["content"]) for message in messages)


def _retry_after_seconds(text: str) -> float | None:
    # A date is allowed here too; nobody sends one, and without a number the backoff decides.
    return min(float(text), _MAX_RETRY_AFTER_S) if text.isascii() and text.isdecimal() else None
