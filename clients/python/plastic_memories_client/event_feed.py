"""The event stream without its socket: what a frame means, and what a lost connection does."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from .connection import Connection
from .errors import EventsClosed, Forbidden, PlasticMemoriesClientError, Unauthorized
from .models import HubEvent
from .protocol import Reply, check, given

PATH = "/ws/events"
LOST = (WebSocketException, OSError)  # TimeoutError is an OSError

NORMAL = 1000
# Restart, no close frame, a fault, "try again later": the stream goes on where it stopped.
PASSING = frozenset({1001, 1005, 1006, 1011, 1012, 1013, 1014})
MEANING: dict[int, type[PlasticMemoriesClientError]] = {4401: Unauthorized, 4403: Forbidden}


class EventFeed:
    """One reader's place in the stream; it survives a reconnect."""

    def __init__(
        self, connection: Connection, persona_id: str | None, resume_from: int | None
    ) -> None:
        self.is_open = True
        self._connection = connection
        self._persona_id = persona_id
        self._last_id = resume_from
        self._may_reconnect = True

    def socket(self) -> dict[str, Any]:
        """Return the WebSocket to open next."""
        params = given(persona_id=self._persona_id, resume_from=self._last_id)
        return self._connection.socket(PATH, params)

    def read(self, frame: str | bytes) -> HubEvent | None:
        """Return the event in a frame; None if it holds something else."""
        try:
            event = HubEvent.model_validate(json.loads(frame))
        except (ValueError, ValidationError):
            return None
        self._last_id = event.id or self._last_id
        # Once for each drop: a server that drops every connection at once is not asked forever.
        self._may_reconnect = True
        return event

    def lost(self, error: Exception) -> None:
        """Return if the stream goes on or has ended as it should; else raise why not."""
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            self._closed(error.rcvd.code, error.rcvd.reason)
        elif isinstance(error, InvalidStatus):
            answer = error.response
            check(Reply(answer.status_code, answer.headers, bytes(answer.body or b"")))
        if self.is_open and not self._may_reconnect:
            raise self._connection.failed(error) from error
        self._may_reconnect = False

    def _closed(self, code: int, reason: str) -> None:
        if code == NORMAL:
            self.is_open = False
        elif code not in PASSING:
            kind = MEANING.get(code, EventsClosed)
            raise kind(reason or "The hub closed the event stream.", detail={"close_code": code})
