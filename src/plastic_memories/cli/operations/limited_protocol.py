"""The server's connections: how many there may be, and how long a request head may take."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Retry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
# The library chooses its protocol class when it is imported.
_Protocol: Any = AutoHTTPProtocol


class _LimitedProtocol(_Protocol):  # type: ignore[misc]
    """The library's protocol, which itself waits for ever for the rest of a request head.

    A few hundred clients that send one byte and stop would take all file descriptors.
    """

    max_connections: int
    head_timeout_s: float
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.write(_TOO_MANY)
            transport.close()
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        if self._head_timer is None and (before is None or before.response_complete):
            self._start_timer()
        super().data_received(data)
        is_upgraded = self.transport.get_protocol() is not self
        if self.cycle is not before or is_upgraded:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.head_timeout_s, self._close_slow)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_slow(self) -> None:
        self._head_timer = None
        self.transport.abort()


def limited_protocol(max_connections: int, head_timeout_s: float) -> type[asyncio.Protocol]:
    """Return a protocol class with these limits, for the configuration of a server."""
    limits = {"max_connections": max_connections, "head_timeout_s": head_timeout_s}
    return type("LimitedProtocol", (_LimitedProtocol,), limits)
