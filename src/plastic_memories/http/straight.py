"""The straight way to a route: every path of ours is fixed, so a look-up finds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.http.context import KeyedRoute
from plastic_memories.http.envelope import on_error, on_invalid

Handler = Callable[[Request], Awaitable[Response]]


class Straight:
    """Serves the keyed routes itself and leaves everything else to the framework.

    The framework tries one pattern after another, behind several layers that our routes do not
    need; that cost more than the whole work of a small write.
    """

    def __init__(self, app: ASGIApp, routers: Iterable[APIRouter]) -> None:
        self._app = app
        self._routes: dict[tuple[str, str], tuple[KeyedRoute, Handler]] = {
            (method, route.path): (route, route.get_route_handler())
            for router in routers
            for route in router.routes
            if isinstance(route, KeyedRoute)
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None
        if scope["type"] == "http":
            found = self._routes.get((scope["method"], scope["path"]))
        if found is None:
            await self._app(scope, receive, send)
            return
        scope["route"], handle = found
        request = Request(scope, receive, send)
        try:
            response = await handle(request)
        except PlasticMemoriesError as error:
            response = await on_error(request, error)
        except RequestValidationError as error:
            response = await on_invalid(request, error)
        await response(scope, receive, send)
