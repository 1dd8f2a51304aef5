# Generated from async_methods/sender.py (`make docs`); do not edit.
"""Send calls and parse their replies."""

from __future__ import annotations

from typing import Any, TypeVar

import httpx

from ..calls import Calls
from ..connection import FAILURES, Connection, may_repeat
from ..errors import PlasticMemoriesClientError
from ..protocol import Call, Reply

T = TypeVar("T")


class Sender:
    """Holds the connection that all methods share."""

    _calls: Calls
    _connection: Connection
    _http: httpx.Client

    def _send(self, call: Call[T]) -> T:
        try:
            return call.read(self._exchange(call, retry=call.retry))
        except PlasticMemoriesClientError as error:
            return call.recover(error)

    def _exchange(self, call: Call[Any], *, retry: bool) -> Reply:
        try:
            response = self._http.request(**self._connection.request(call))
        except FAILURES as error:
            if retry and may_repeat(call, error):
                return self._exchange(call, retry=False)
            raise self._connection.unreachable_error(error) from error
        return Reply(response.status_code, response.headers, response.content)
