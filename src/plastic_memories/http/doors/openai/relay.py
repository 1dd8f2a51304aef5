"""Relay the upstream's response to the client byte for byte, as it arrives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from plastic_memories.http.doors.openai.failures import UpstreamError, openai_error
from plastic_memories.http.doors.openai.upstream import Headers, Upstream

logger = logging.getLogger(__name__)
# A longer reply is relayed, and not stored.
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_OK = range(200, 300)


@dataclass(slots=True)
class RelayedReply:
    """The part of the reply that has reached the client so far."""

    status: int = 0
    is_stream: bool = False
    is_whole: bool = False
    body: bytearray = field(default_factory=bytearray)

    @property
    def was_visible(self) -> bool:
        """Return whether the client may have shown it: the whole, or any part of a stream."""
        return self.status in _OK and (self.is_whole or (self.is_stream and bool(self.body)))


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    path: str
    headers: Headers
    body: bytes


class RelayResponse(Response):
    """Send the request to the upstream and relay the response; a disconnecting client cancels both.

    `finished` receives what has reached the client, if the client may have shown it.
    """

    def __init__(
        self,
        upstream: Upstream,
        upstream_request: UpstreamRequest,
        own_headers: dict[str, str],
        finished: Callable[[RelayedReply], None],
    ) -> None:
        super().__init__()
        self._upstream = upstream
        self._request = upstream_request
        self._own_headers = own_headers
        self._finished = finished
        self._passed = RelayedReply()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A timeout that never expires by itself: rescheduling it cancels this very task from
        # outside. A second task for the work would have to be cancelled and awaited.
        presence = asyncio.timeout(None)
        try:
            async with presence:
                watching = asyncio.create_task(
                    _cancel_on_disconnect(receive, presence), name="client"
                )
                try:
                    await self._respond(scope, receive, send)
                finally:
                    watching.cancel()
        except TimeoutError:
            if not presence.expired():
                raise
        finally:
            if self._passed.was_visible:
                self._finished(self._passed)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._relay(send)
        except UpstreamError as error:
            logger.warning("proxy.upstream", extra={"fields": {"code": error.code}})
            if not self._passed.status:
                whole = openai_error(error.status, error.code, error.message, self._own_headers)
                await whole(scope, receive, send)
            # Otherwise the response stops unfinished, as the upstream's did: the server closes the
            # connection, and the client sees what it would have seen without the proxy.

    async def _relay(self, send: Send) -> None:
        request, passed = self._request, self._passed
        own = [(name.lower().encode(), text.encode()) for name, text in self._own_headers.items()]
        async with self._upstream.stream_request(
            "POST", request.path, request.headers, request.body
        ) as answer:
            headers = [*answer.forwarded_headers, *own]
            passed.status, passed.is_stream = answer.status, answer.is_stream
            start = {"type": "http.response.start", "status": passed.status, "headers": headers}
            await send(start)
            while not passed.is_whole:
                chunk = await answer.next_chunk()
                if len(passed.body) < _MAX_KEPT_BYTES:
                    passed.body += chunk
                passed.is_whole = answer.is_whole
                more = not passed.is_whole
                await send({"type": "http.response.body", "body": chunk, "more_body": more})


async def _cancel_on_disconnect(receive: Receive, presence: asyncio.Timeout) -> None:
    """Cancel the work for a client when it disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    # A deadline in the past: the code under the timeout is cancelled now, wherever it waits.
    presence.reschedule(0)
