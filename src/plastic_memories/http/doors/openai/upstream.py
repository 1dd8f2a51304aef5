"""The server that answers: the one the configuration names, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plastic_memories.http.doors.openai.failures import UpstreamFailed
from plastic_memories.http.options import ProxyOptions

if TYPE_CHECKING:
    import httpx

Headers = Iterable[tuple[bytes, bytes]]
# Between two neighbours only (RFC 9110, 7.6.1).
_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
# Ours to set, or for the hub alone: its keys and names are nobody else's business.
_NOT_SENT = _HOP | frozenset(
    b"host content-length accept-encoding expect authorization x-api-key cookie origin referer "
    b"x-user-id x-persona-id x-session-id x-source-app x-bot-id x-memory x-request-id "
    b"forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip".split()
)
_NOT_RETURNED = _HOP | frozenset(b"date server set-cookie".split())
_CORS = b"access-control-"
_REDIRECTS = range(300, 400)


@dataclass(slots=True)
class Upstream:
    """Keeps connections to one server. It opens none before it is asked for the first time."""

    options: ProxyOptions
    _client: httpx.AsyncClient | None = field(default=None, repr=False)

    def check(self) -> None:
        """Raise `UpstreamFailed` if no server is configured."""
        if not self.options.url:
            raise UpstreamFailed(
                503,
                "upstream_not_configured",
                "The proxy has no upstream. Set PLASTIC_MEMORIES_PROXY_UPSTREAM_URL to the address "
                "of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1, and "
                "PLASTIC_MEMORIES_PROXY_UPSTREAM_KEY to its key, then start the hub again.",
            )

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, headers: Headers, body: bytes = b""
    ) -> AsyncIterator[httpx.Response]:
        """Yield the answer as soon as its head is there; raise `UpstreamFailed` if none comes."""
        client = self._opened()
        request = client.build_request(
            method, f"{self.options.url}{path}", headers=self._sent(headers), content=body
        )
        answer = await self._answer(client, request)
        try:
            if answer.status_code in _REDIRECTS:
                # Who follows it carries words of the user to a server that nobody configured.
                raise _failed(502, "redirect", "sends elsewhere; configure the final address")
            yield answer
        finally:
            await answer.aclose()

    async def _answer(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        import httpx  # noqa: PLC0415 - see _opened

        try:
            async with asyncio.timeout(self.options.connect_s + self.options.first_byte_s):
                return await client.send(request, stream=True)
        except httpx.ConnectTimeout:
            raise _failed(504, "timeout", "cannot be reached in time") from None
        except (httpx.TimeoutException, TimeoutError):
            raise _failed(504, "timeout", "did not begin to answer in time") from None
        except httpx.ConnectError:
            raise _failed(502, "unreachable", "cannot be reached") from None
        except httpx.HTTPError:
            raise _failed(502, "broken", "broke off before it answered") from None

    async def chunks(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the answer's bytes as they come; raise `UpstreamFailed` if they stop."""
        import httpx  # noqa: PLC0415 - see _opened

        raw = answer.aiter_raw()
        while True:
            try:
                async with asyncio.timeout(self.options.idle_s):
                    chunk = await anext(raw, None)
            except (httpx.HTTPError, TimeoutError):
                raise _failed(502, "broken", "broke off in the middle of its answer") from None
            if chunk is None:
                return
            yield chunk

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            # Here, because it takes longer to import than all the rest of the proxy, and most
            # hubs have none.
            import httpx  # noqa: PLC0415

            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(None, connect=self.options.connect_s),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
                follow_redirects=False,
                # A proxy of the environment leads away from this machine, not to it.
                trust_env=not _is_here(self.options.url),
            )
        return self._client

    def _sent(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        # What is compressed cannot be read as it passes.
        own = [(b"accept-encoding", b"identity")]
        if self.options.key:
            own.append((b"authorization", f"Bearer {self.options.key}".encode()))
        return [*own, *((name, value) for name, value in headers if name not in _NOT_SENT)]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def returned(answer: httpx.Response) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer that go on to the client."""
    found = [(name.lower(), value) for name, value in answer.headers.raw]
    kept = [
        (name, value)
        for name, value in found
        if name not in _NOT_RETURNED and not name.startswith(_CORS)
    ]
    # The hub has an id of its own for the request.
    return [(b"x-upstream-request-id" if n == b"x-request-id" else n, v) for n, v in kept]


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _failed(status: int, code: str, what: str) -> UpstreamFailed:
    return UpstreamFailed(status, f"upstream_{code}", f"The upstream {what}.")
