"""WS /ws/events: what changes, as it changes. The server pings as the protocol says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from plastic_memories.errors import (
    BadRequest,
    NotAllowed,
    NotAuthenticated,
    PlasticMemoriesError,
    Unavailable,
)
from plastic_memories.http.context import caller_from, key_of, named_user
from plastic_memories.hub.hub import Hub
from plastic_memories.model.event import Event
from plastic_memories.model.key import Caller

_FIRST_FRAME_S = 10.0
_REPLAY_PAGE = 200
_CLOSE: dict[type[PlasticMemoriesError], int] = {
    NotAuthenticated: 4401,
    NotAllowed: 4403,
    BadRequest: 4400,
    Unavailable: 4503,
}
_TOO_SLOW = 4408


async def events(socket: WebSocket) -> None:
    """Send the caller's own events; the key comes in a header or in the first frame.

    What happens from the moment of connecting on is sent, also while the key is being checked.
    """
    hub: Hub = socket.app.state.hub
    connected_at = hub.ledger.clock.now()
    await socket.accept()
    try:
        caller, wish = await _admit(socket, hub)
        await _stream(socket, hub, caller, wish, connected_at)
    except WebSocketDisconnect:
        return
    except PlasticMemoriesError as error:
        code = next((code for kind, code in _CLOSE.items() if isinstance(error, kind)), 1011)
        await socket.close(code, error.message[:120])


async def _admit(socket: WebSocket, hub: Hub) -> tuple[Caller, dict[str, Any]]:
    """Find out who listens, and to what."""
    wish: dict[str, Any] = dict(socket.query_params)
    key, user_id = key_of(socket.headers), named_user(socket.headers)
    if not key:
        frame = await _first_frame(socket)
        wish |= {name: frame[name] for name in ("persona_id", "resume_from") if name in frame}
        key, user_id = str(frame.get("api_key", "")), str(frame.get("user_id", ""))
    caller = await caller_from(hub, key, user_id, socket.state.request_id)
    if wish.get("persona_id"):
        caller.owner(str(wish["persona_id"]))
    return caller, wish


async def _first_frame(socket: WebSocket) -> dict[str, Any]:
    try:
        frame = await asyncio.wait_for(socket.receive_json(), _FIRST_FRAME_S)
    except (TimeoutError, ValueError, KeyError):
        raise NotAuthenticated("Send the key in a header or as the first frame.") from None
    if not isinstance(frame, dict) or frame.get("type") != "auth":
        raise NotAuthenticated('The first frame must be {"type": "auth", "api_key": …}.')
    return frame


async def _stream(
    socket: WebSocket, hub: Hub, caller: Caller, wish: dict[str, Any], connected_at: float
) -> None:
    after = _whole(wish.get("resume_from"))
    async with hub.ledger.sink.listen(caller.user) as live:
        watcher = asyncio.create_task(_until_gone(socket))
        try:
            # Listening began before the replay, so nothing falls between the two.
            last = await _replay(socket, hub, caller, wish, after, connected_at)
            await _follow(socket, live, last, wish, caller, watcher)
        finally:
            watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watcher


async def _replay(
    socket: WebSocket,
    hub: Hub,
    caller: Caller,
    wish: dict[str, Any],
    after: int | None,
    connected_at: float,
) -> int:
    """Send what was missed; return the last id sent."""
    since = connected_at if after is None else 0.0
    last = after or 0
    while True:
        missed = await hub.browse.audit(
            caller, since=since, after_id=last, memory_id=None, limit=_REPLAY_PAGE
        )
        for event in missed:
            await _send(socket, event, wish, caller)
            last = event.id
        if len(missed) < _REPLAY_PAGE:
            return last


async def _follow(
    socket: WebSocket,
    live: AsyncIterator[Event],
    last: int,
    wish: dict[str, Any],
    caller: Caller,
    watcher: asyncio.Task[None],
) -> None:
    following = asyncio.ensure_future(anext(live, None))
    try:
        while True:
            done, _ = await asyncio.wait({following, watcher}, return_when=asyncio.FIRST_COMPLETED)
            if watcher in done:
                return
            event = following.result()
            if event is None:
                await socket.close(_TOO_SLOW, "too slow; come back with resume_from")
                return
            if event.id > last:
                await _send(socket, event, wish, caller)
            following = asyncio.ensure_future(anext(live, None))
    finally:
        following.cancel()


async def _until_gone(socket: WebSocket) -> None:
    """Read and drop what the listener sends, until it leaves."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return


async def _send(socket: WebSocket, event: Event, wish: dict[str, Any], caller: Caller) -> None:
    wanted = wish.get("persona_id") or caller.key.limits.persona_id
    if wanted and event.persona_id not in ("", wanted):
        return
    app = caller.key.limits.source_app
    if app and not event.is_of(app):
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


def _whole(value: Any) -> int | None:
    try:
        return max(0, int(value)) if value not in (None, "") else None
    except (TypeError, ValueError):
        raise BadRequest("resume_from must be a whole number.") from None
