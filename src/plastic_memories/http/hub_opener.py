"""When the hub of an application is open: while its server runs, else from the first request on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context

from starlette.requests import HTTPConnection

from plastic_memories.hub.hub import Hub

logger = logging.getLogger(__name__)
OpenHub = Callable[[], AbstractAsyncContextManager[Hub]]


class HubOpener:
    """Opens the hub for the lifespan of a server, or on demand where nobody announces one.

    Test clients and servers with `lifespan off` announce none. Some of them run each request in an
    event loop of its own, and a hub cannot change its loop: on demand, each loop opens one.
    """

    def __init__(self, open_hub: OpenHub) -> None:
        self._open_hub = open_hub
        self._lifespan_hub: Hub | None = None
        self._on_demand: dict[asyncio.AbstractEventLoop, asyncio.Future[Hub]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # a loop holds its tasks only weakly

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Open the hub while a server runs."""
        async with self._open_hub() as hub:
            self._lifespan_hub = hub
            try:
                yield
            finally:
                self._lifespan_hub = None

    async def hub(self) -> Hub:
        """Return the open hub; open it if that has not happened yet."""
        if self._lifespan_hub is not None:
            return self._lifespan_hub
        loop = asyncio.get_running_loop()
        opening = self._on_demand.get(loop)
        if opening is None:
            opening = self._on_demand[loop] = loop.create_future()
            # In a context of its own: the hub's tasks do not work for whoever came first.
            task = loop.create_task(self._hold_open(opening), name="hub", context=Context())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # Who goes away while it opens does not stop it for the others.
        return await asyncio.shield(opening)

    async def _hold_open(self, opening: asyncio.Future[Hub]) -> None:
        """Hold the hub open until the loop ends, which cancels its tasks and waits for them."""
        try:
            async with self._open_hub() as hub:
                opening.set_result(hub)
                await asyncio.Event().wait()
        except Exception as error:
            if opening.done():
                logger.exception("hub.stop")
            else:
                opening.set_exception(error)
        finally:
            opening.cancel()  # changes nothing if it is done
            del self._on_demand[opening.get_loop()]


async def open_hub_of(connection: HTTPConnection) -> Hub:
    """Return the open hub of the application that a request or a socket came to."""
    opener: HubOpener = connection.app.state.hub_opener
    return await opener.hub()
