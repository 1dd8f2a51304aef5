"""HTTP client for the one configured upstream server."""

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
# Hop-by-hop headers (RFC 9110, 7.6.1).
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
# Headers that the proxy sets itself, or that are for the hub alone: keys and names stay here.
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
# Headers that the client library would add although the client did not send them.
_SKIPPED_AUTO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
# Limits for one header and for their number: some servers send whole policies there.
_MAX_HEADER_BYTES = 64 * 1024
_MAX_HEADERS = 1000
# As long as most servers keep an idle connection open.
_KEEPALIVE_S = 5.0
_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """A response whose headers have arrived; the body is read as it arrives."""

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
        """Return whether the whole body was read."""
        return self._raw.content.at_eof()

    @property
    def forwarded_headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers to forward to the client."""
        found = [(name.lower(), value) for name, value in self._raw.raw_headers]
        # The hub has its own id for the request.
        return [
            (b"x-upstream-request-id" if name == b"x-request-id" else name, value)
            for name, value in found
            if name not in _UNFORWARDED_HEADERS and not name.startswith(_OWN_PREFIXES)
        ]

    async def next_chunk(self) -> bytes:
        """Return the next bytes, waiting for them if needed; empty at the end.

        Raise `UpstreamError` if the connection breaks before the end.
        """
        import aiohttp  # noqa: PLC0415 - see Upstream._open_session

        content = self._raw.content
        try:
            async with asyncio.timeout(self.idle_s):
                return await content.readany()
        except (aiohttp.ClientError, RuntimeError, TimeoutError):
            # A slow reader has not read all that came before the connection broke. Every public
            # read of aiohttp 3 raises the stored error first, even with bytes in the buffer, so
            # only this private one returns them. Next time there is nothing left.
            # `test_who_reads_slowly_gets_all_that_came_before_the_end` fails if it goes away.
            if left := content._read_nowait(-1):  # noqa: SLF001
                return left
            raise _upstream_error(502, "broken", "broke off in the middle of its answer") from None


@dataclass(slots=True)
class Upstream:
    """Holds a connection pool to one server. It is opened at the first request."""

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
        """Yield the response once its headers arrive; raise `UpstreamError` if none comes."""
        raw = await self._send_request(method, path, headers, body)
        try:
            if raw.status in _REDIRECTS:
                # Following it would send the user's text to a server that nobody configured.
                raise _upstream_error(502, "redirect", "redirects; configure the final address")
            yield UpstreamResponse(self.options.idle_s, raw)
        finally:
            # A connection whose response was read to its end is back in the pool by now.
            raw.close()

    async def _send_request(
        self, method: str, path: str, headers: Headers, body: bytes
    ) -> aiohttp.ClientResponse:
        session = self._open_session()
        import aiohttp  # noqa: PLC0415 - see _open_session

        try:
            # To connect is part of it: whoever sets five seconds waits no longer than that.
            async with asyncio.timeout(self.options.first_byte_s):
                return await session.request(
                    method,
                    f"{self.options.url}{path}",
                    headers=self._request_headers(headers),
                    # A file is sent in chunks: a picture does not block other calls.
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
            # Imported here: it takes longer than all the rest of the proxy, and most hubs have no
            # proxy.
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
        # A compressed response cannot be read as it passes.
        own = [("accept-encoding", "identity")]
        # Credentials in the URL take precedence: a server expects one Authorization.
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
            self._session = None  # whoever opens the hub again opens another


def _header_value(value: bytes) -> str:
    """Return a header's value; it is sent as UTF-8, whatever it was."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _ssl_context(url: str) -> ssl.SSLContext | None:
    """Return a TLS context with the same trusted certificates as every other part of the hub."""
    if urlsplit(url).scheme != "https":
        return None
    import httpx  # noqa: PLC0415 - see Upstream._open_session

    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for a URL, or None."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    # A proxy of the environment is for other machines, never for this one.
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
