"""The server that answers: the one the configuration names, and no other."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from plastic_memories.http.doors.openai.failures import UpstreamError
from plastic_memories.http.options import ProxyOptions

if TYPE_CHECKING:
    import ssl

    import aiohttp

Headers = Iterable[tuple[bytes, bytes]]
# Between two neighbours only (RFC 9110, 7.6.1).
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
# Ours to set, or for the hub alone: its keys and names are nobody else's business.
_UNSENT_HEADERS = _HOP_BY_HOP | frozenset(
    b"host content-length accept-encoding expect authorization x-api-key cookie origin referer "
    b"x-user-id x-persona-id x-session-id x-source-app x-bot-id x-memory x-request-id "
    b"forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip".split()
)
_UNFORWARDED_HEADERS = _HOP_BY_HOP | frozenset(
    b"date server set-cookie x-upstream-request-id".split()
)
# Ours alone to send: `access-control-allow-origin`, `x-memory-ids`.
_OWN_PREFIXES = (b"access-control-", b"x-memory-")
_REDIRECTS = range(300, 400)
# What the client library would add by itself, and the client has not said.
_SKIPPED_AUTO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
# A server's longest header, and how many of them: some put whole policies there.
_MAX_HEADER_BYTES = 64 * 1024
_MAX_HEADERS = 1000
# As long as most servers keep a connection that nobody uses.
_KEEPALIVE_S = 5.0
_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """An answer of which the head is there; the rest is read as it comes."""

    idle_s: float
    _raw: aiohttp.ClientResponse

    @property
    def status(self) -> int:
        return self._raw.status

    @property
    def is_stream(self) -> bool:
        return self._raw.headers.get("Content-Type", "").startswith(_STREAM)

    @property
    def is_whole(self) -> bool:
        """Whether everything was read."""
        return self._raw.content.at_eof()

    @property
    def forwarded_headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that go on to the client."""
        found = [(name.lower(), value) for name, value in self._raw.raw_headers]
        # The hub has an id of its own for the request.
        return [
            (b"x-upstream-request-id" if name == b"x-request-id" else name, value)
            for name, value in found
            if name not in _UNFORWARDED_HEADERS and not name.startswith(_OWN_PREFIXES)
        ]

    async def next_chunk(self) -> bytes:
        """Return what has come, or wait for it: no bytes at the end.

        Raise `UpstreamError` if they stop before.
        """
        import aiohttp  # noqa: PLC0415 - see Upstream._opened

        content = self._raw.content
        try:
            async with asyncio.timeout(self.idle_s):
                return await content.readany()
        except (aiohttp.ClientError, RuntimeError, TimeoutError):
            # Who reads slowly has not read all that came before the connection broke, and the
            # library's own ways do not give it out any more. Next time there is nothing left.
            if left := content._read_nowait(-1):  # noqa: SLF001
                return left
            raise _upstream_error(502, "broken", "broke off in the middle of its answer") from None


@dataclass(slots=True)
class Upstream:
    """Keeps connections to one server. It opens none before it is asked for the first time."""

    options: ProxyOptions
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    def check_configured(self) -> None:
        """Raise `UpstreamError` if no server is configured."""
        if not self.options.url:
            raise UpstreamError(
                503,
                "upstream_not_configured",
                "The proxy has no upstream. Set PLASTIC_MEMORIES_PROXY_UPSTREAM_URL to the address "
                "of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1, and "
                "PLASTIC_MEMORIES_PROXY_UPSTREAM_KEY to its key, then start the hub again.",
            )

    @asynccontextmanager
    async def stream_request(
        self, method: str, path: str, headers: Headers, body: bytes = b""
    ) -> AsyncIterator[UpstreamResponse]:
        """Yield the answer as soon as its head is there; raise `UpstreamError` if none comes."""
        raw = await self._send_request(method, path, headers, body)
        try:
            if raw.status in _REDIRECTS:
                # Who follows it carries words of the user to a server that nobody configured.
                raise _upstream_error(
                    502, "redirect", "sends elsewhere; configure the final address"
                )
            yield UpstreamResponse(self.options.idle_s, raw)
        finally:
            # A connection whose answer was read to its end is back in the pool by now.
            raw.close()

    async def _send_request(
        self, method: str, path: str, headers: Headers, body: bytes
    ) -> aiohttp.ClientResponse:
        session = self._open_session()
        import aiohttp  # noqa: PLC0415 - see _opened

        try:
            async with asyncio.timeout(self.options.connect_s + self.options.first_byte_s):
                return await session.request(
                    method,
                    f"{self.options.url}{path}",
                    headers=self._request_headers(headers),
                    # As a file, it is sent in pieces: a picture does not hold up other calls.
                    data=io.BytesIO(body) if body else None,
                    allow_redirects=False,
                )
        except aiohttp.ConnectionTimeoutError:
            raise _upstream_error(504, "timeout", "cannot be reached in time") from None
        except TimeoutError:
            raise _upstream_error(504, "timeout", "did not begin to answer in time") from None
        except aiohttp.ClientConnectorError:
            raise _upstream_error(502, "unreachable", "cannot be reached") from None
        except aiohttp.ClientError:
            raise _upstream_error(502, "broken", "broke off before it answered") from None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            # Here, because it takes longer to import than all the rest of the proxy, and most
            # hubs have none.
            import aiohttp  # noqa: PLC0415

            url = self.options.url
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_KEEPALIVE_S, ssl=_ssl_context(url) or True
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.options.connect_s),
                proxy=_proxy_for(url),
                skip_auto_headers=_SKIPPED_AUTO_HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                max_line_size=_MAX_HEADER_BYTES,
                max_field_size=_MAX_HEADER_BYTES,
                max_headers=_MAX_HEADERS,
            )
        return self._session

    def _request_headers(self, headers: Headers) -> list[tuple[str, str]]:
        # What is compressed cannot be read as it passes.
        own = [("accept-encoding", "identity")]
        # Who is named in the address asks by that name; a server hears one.
        if self.options.key and "@" not in urlsplit(self.options.url).netloc:
            own.append(("authorization", f"Bearer {self.options.key}"))
        passed_on = [
            (name.decode("latin-1"), _header_value(value))
            for name, value in headers
            if name not in _UNSENT_HEADERS
        ]
        return [*own, *passed_on]

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _header_value(value: bytes) -> str:
    """Return a header's value; it is sent as UTF-8, whatever it was."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _ssl_context(url: str) -> ssl.SSLContext | None:
    """Return whom to believe that it is the server: those that every other part believes."""
    if urlsplit(url).scheme != "https":
        return None
    import httpx  # noqa: PLC0415 - see Upstream._opened

    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for an address, if there is one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    # A proxy of the environment leads away from this machine, not to it.
    if _is_loopback(host) or proxy_bypass(host):
        return None
    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    return found if not found or "://" in found else f"http://{found}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _upstream_error(status: int, code: str, what: str) -> UpstreamError:
    return UpstreamError(status, f"upstream_{code}", f"The upstream {what}.")
