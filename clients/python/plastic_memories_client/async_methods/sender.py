"""Send calls and parse their replies."""

from __future__ import annotations

from typing import Any, TypeVar

import httpx

from ..calls import Calls
from ..connection import FAILURES, Connection, may_repeat
from ..errors import PlasticMemoriesClientError
from ..protocol import Call, Reply

T = TypeVar("T")


class AsyncSender:
    """Holds the connection that all methods share."""

    _calls: Calls
    _connection: Connection
    _http: httpx.AsyncClient

    async def _send(self, call: Call[T]) -> T:
        try:
            return call.read(await self._exchange(call, retry=call.retry))
        except PlasticMemoriesClientError as error:
            return call.recover(error)

    async def _exchange(self, call: Call[Any], *, retry: bool) -> Reply:
        try:
            response = await self._http.request(**self._connection.request(call))
        except FAILURES as error:
            if retry and may_repeat(call, error):
                return await self._exchange(call, retry=False)
            raise self._connection.unreachable_error(error) from error
        return Reply(response.status_code, response.headers, response.content)
