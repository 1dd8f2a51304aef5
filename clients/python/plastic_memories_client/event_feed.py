"""The event stream without its socket: parse frames, and decide when to reconnect."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from .connection import Connection
from .errors import EventsClosed, Forbidden, PlasticMemoriesClientError, Unauthorized
from .models import HubEvent
from .protocol import Reply, check, without_none

PATH = "/ws/events"
DISCONNECTS = (WebSocketException, OSError)  # TimeoutError is an OSError

NORMAL_CLOSE_CODE = 1000
# Restart, no close frame, a fault, "try again later": reconnect and resume.
TRANSIENT_CLOSE_CODES = frozenset({1001, 1005, 1006, 1011, 1012, 1013, 1014})
ERROR_BY_CLOSE_CODE: dict[int, type[PlasticMemoriesClientError]] = {
    4401: Unauthorized,
    4403: Forbidden,
}


class EventFeed:
    """One reader's position in the stream; it survives a reconnect."""

    def __init__(
        self, connection: Connection, persona_id: str | None, resume_from: int | None
    ) -> None:
        self.is_open = True
        self._connection = connection
        self._persona_id = persona_id
        self._last_id = resume_from
        self._may_reconnect = True

    def socket(self) -> dict[str, Any]:
        """Return the arguments of the next WebSocket connection."""
        params = without_none(persona_id=self._persona_id, resume_from=self._last_id)
        return self._connection.socket(PATH, params)

    def read(self, frame: str | bytes) -> HubEvent | None:
        """Return the event in a frame; None if the frame has no event."""
        try:
            event = HubEvent.model_validate(json.loads(frame))
        except (ValueError, ValidationError):
            return None
        self._last_id = event.id or self._last_id
        # One retry per drop: do not retry forever against a server that drops every connection.
        self._may_reconnect = True
        return event

    def reconnect_or_raise(self, error: Exception) -> None:
        """Return if the stream may go on or has ended normally; otherwise raise the error."""
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            self._check_close_code(error.rcvd.code, error.rcvd.reason)
        elif isinstance(error, InvalidStatus):
            answer = error.response
            check(Reply(answer.status_code, answer.headers, bytes(answer.body or b"")))
        if self.is_open and not self._may_reconnect:
            raise self._connection.unreachable_error(error) from error
        self._may_reconnect = False

    def _check_close_code(self, code: int, reason: str) -> None:
        if code == NORMAL_CLOSE_CODE:
            self.is_open = False
        elif code not in TRANSIENT_CLOSE_CODES:
            kind = ERROR_BY_CLOSE_CODE.get(code, EventsClosed)
            raise kind(reason or "The hub closed the event stream.", detail={"close_code": code})
