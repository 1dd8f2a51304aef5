"""WS /ws/events: stream changes as they happen. The server pings as the protocol says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from plastic_memories.errors import (
    BadRequest,
    NotAllowed,
    NotAuthenticated,
    PlasticMemoriesError,
    TooManyRequests,
    Unavailable,
)
from plastic_memories.http.caller_context import authenticate_caller, request_key, requested_user
from plastic_memories.http.event_socket_limits import EventSocketLimits
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.hub.hub import Hub
from plastic_memories.model.event import Event
from plastic_memories.model.key import Caller

_FIRST_FRAME_S = 10.0
_REPLAY_PAGE = 200
_CLOSE_CODES: dict[type[PlasticMemoriesError], int] = {
    NotAuthenticated: 4401,
    NotAllowed: 4403,
    BadRequest: 4400,
    TooManyRequests: 4429,
    Unavailable: 4503,
}
_TOO_SLOW = 4408
_REASON_BYTES = 120
_MOST_ID = 2**63 - 1


async def stream_events(socket: WebSocket) -> None:
    """Stream the caller's own events; the key comes in a header or in the first frame.

    Events from the moment of connecting are sent, also those that occur while the key is checked.
    """
    hub = await open_hub_of(socket)
    connected_at = hub.storage.clock.now()
    limits: EventSocketLimits = socket.app.state.event_sockets
    await socket.accept()
    try:
        with limits.socket():
            listener = await _admit(socket)
            with limits.socket_of_key(listener.caller.key.digest):
                await _stream(socket, hub, listener, connected_at)
    except WebSocketDisconnect:
        return
    except PlasticMemoriesError as error:
        code = next((code for kind, code in _CLOSE_CODES.items() if isinstance(error, kind)), 1011)
        await socket.close(code, _reason(error.message))


@dataclass(frozen=True, slots=True)
class _Listener:
    """A listener with its key and its filter."""

    caller: Caller
    key: str
    parameters: Mapping[str, Any]

    def hears(self, event: Event) -> bool:
        limits = self.caller.key.limits
        wanted = self.parameters.get("persona_id") or limits.persona_id
        if wanted and event.persona_id not in ("", wanted):
            return False
        return not limits.source_app or event.is_of(limits.source_app)


async def _admit(socket: WebSocket) -> _Listener:
    """Authenticate a listener and read its filter."""
    parameters: dict[str, Any] = dict(socket.query_params)
    key = request_key(socket.headers)
    # A page can send no header with its socket.
    user_id = requested_user(socket.headers) or str(parameters.get("user_id", ""))
    if not key:
        frame = await _first_frame(socket)
        parameters |= {name: frame[name] for name in ("persona_id", "resume_from") if name in frame}
        key, user_id = str(frame.get("api_key", "")), str(frame.get("user_id", ""))
    caller = await authenticate_caller(socket, key, user_id, socket.state.request_id)
    if parameters.get("persona_id"):
        caller.owner(str(parameters["persona_id"]))
    return _Listener(caller, key, parameters)


async def _first_frame(socket: WebSocket) -> dict[str, Any]:
    try:
        frame = await asyncio.wait_for(socket.receive_json(), _FIRST_FRAME_S)
    except (TimeoutError, ValueError, KeyError, RecursionError):
        raise NotAuthenticated("Send the key in a header or as the first frame.") from None
    if not isinstance(frame, dict) or frame.get("type") != "auth":
        raise NotAuthenticated('The first frame must be {"type": "auth", "api_key": …}.')
    return frame


async def _stream(socket: WebSocket, hub: Hub, listener: _Listener, connected_at: float) -> None:
    """Send events until the listener disconnects or falls too far behind, or its key is invalid."""
    after = _event_id(listener.parameters.get("resume_from"))
    async with hub.storage.sink.listen(listener.caller.user) as live:
        tasks = [
            asyncio.ensure_future(hub.keys.until_invalid(listener.key)),
            asyncio.ensure_future(_wait_for_disconnect(socket)),
            asyncio.ensure_future(_send_all(socket, hub, listener, live, (after, connected_at))),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _send_all(
    socket: WebSocket,
    hub: Hub,
    listener: _Listener,
    live: AsyncIterator[Event],
    start: tuple[int | None, float],
) -> None:
    # Listening started before the replay, so no event falls between the two.
    last = await _replay(socket, hub, listener, *start)
    async for event in live:
        if event.id > last:
            await _send(socket, event, listener)
    await socket.close(_TOO_SLOW, "too slow; come back with resume_from")


async def _replay(
    socket: WebSocket, hub: Hub, listener: _Listener, after: int | None, connected_at: float
) -> int:
    """Send missed events; return the last id sent."""
    since = connected_at if after is None else 0.0
    last = after or 0
    while True:
        missed = await hub.browse.audit_events(
            listener.caller, since=since, after_id=last, memory_id=None, limit=_REPLAY_PAGE
        )
        for event in missed:
            await _send(socket, event, listener)
            last = event.id
        if len(missed) < _REPLAY_PAGE:
            return last


async def _wait_for_disconnect(socket: WebSocket) -> None:
    """Discard incoming frames until the listener disconnects."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return


async def _send(socket: WebSocket, event: Event, listener: _Listener) -> None:
    if not listener.hears(event):
        return
    await socket.send_json(
        {
            "id": event.id,
            "event": event.event,
            "ts": event.ts,
            "request_id": event.request_id,
            "persona_id": event.persona_id,
            "data": dict(event.data),
        }
    )


def _event_id(value: Any) -> int | None:
    """Return the id to resume after; None if not given."""
    if value in (None, ""):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    is_fraction = isinstance(value, float) and number != value
    if number is None or isinstance(value, bool) or is_fraction or number > _MOST_ID:
        raise BadRequest("resume_from must be the id of an event, a whole number.")
    return max(0, number)


def _reason(message: str) -> str:
    """Shorten a reason to what fits into a close frame."""
    return message.encode(errors="replace")[:_REASON_BYTES].decode(errors="ignore")
