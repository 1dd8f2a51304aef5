"""Build the HTTP application: routes, error handlers, middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Match, WebSocketRoute
from starlette.routing import Route as Pattern
from starlette.types import ASGIApp, Receive, Scope, Send

from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.http import landing_page
from plastic_memories.http.console import assets as console_assets
from plastic_memories.http.console import routes as console
from plastic_memories.http.console import session_routes as console_session
from plastic_memories.http.cors import Cors
from plastic_memories.http.doors.mcp import router as mcp
from plastic_memories.http.doors.mem0 import hosted as mem0_hosted
from plastic_memories.http.doors.mem0 import open_source as mem0_open_source
from plastic_memories.http.doors.openai import chat_routes as openai
from plastic_memories.http.doors.openai.chat_turn import MEMORY_HEADERS
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.envelope import InvalidRequest, on_bug, on_error, on_http, on_invalid
from plastic_memories.http.event_socket_limits import EventSocketLimits
from plastic_memories.http.exact_path_router import ExactPathRouter
from plastic_memories.http.hub_opener import HubOpener, OpenHub
from plastic_memories.http.openapi_document import show_document
from plastic_memories.http.options import HttpOptions
from plastic_memories.http.rate_limit import RateLimit
from plastic_memories.http.request_frame import RequestFrame
from plastic_memories.http.routes import (
    conversation,
    event_stream,
    formation,
    goals,
    memories,
    memory_review,
    operations,
    pages,
    personas,
    recall,
    transfer,
)
from plastic_memories.http.routing import Route, endpoint_parameters, routes_by_path
from plastic_memories.hub.hub import Hub
from plastic_memories.wire.fields import all_models

# The order of the OpenAPI document.
ROUTERS = (
    operations.public,
    recall.router,
    conversation.router,
    memories.router,
    memory_review.router,
    pages.router,
    personas.router,
    goals.router,
    formation.router,
    operations.guarded,
    transfer.router,
    mcp.router,
    openai.router,
    landing_page.router,
    console_assets.router,
    console_session.router,
    console.public,
    console.router,
    mem0_open_source.router,
    mem0_hosted.router,
)
_ROUTES = [route for router in ROUTERS for route in router.declared]
_PATTERNS = [route for route in _ROUTES if "{" in route.path]
_FIXED_ROUTES = routes_by_path(route for route in _ROUTES if "{" not in route.path)


class Application(Starlette):
    """A Starlette application behind our own entry point, which serves most requests itself."""

    entry_point: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self.entry_point(scope, receive, send)

    async def framework(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)


class _PatternRoute(Pattern):
    """A route with path parameters. It matches its own methods only, and the log names it."""

    def __init__(self, route: Route) -> None:
        super().__init__(route.path, route.handle, methods=route.methods)
        self.methods = set(route.methods)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


def create_app(options: HttpOptions, open_hub: OpenHub) -> Application:
    """Build the application; the hub is opened when the server starts, or by a first request."""

    @asynccontextmanager
    async def open_parts() -> AsyncIterator[Hub]:
        async with open_hub() as hub:
            app.state.hub = hub
            try:
                yield hub
            finally:
                await app.state.upstream.close()

    opener = HubOpener(open_parts)

    app = Application(
        routes=[
            Pattern("/openapi.json", show_document),
            WebSocketRoute("/ws/events", event_stream.stream_events),
            *(_PatternRoute(route) for route in _PATTERNS),
        ],
        lifespan=lambda _app: opener.lifespan(),
        exception_handlers={
            PlasticMemoriesError: on_error,
            InvalidRequest: on_invalid,
            HTTPException: on_http,
            Exception: on_bug,
        },
    )
    app.router.redirect_slashes = False
    app.state.options = options
    app.state.hub_opener = opener
    app.state.fixed = _FIXED_ROUTES
    app.state.upstream = Upstream(options.proxy)
    app.state.rate = RateLimit(*options.rate) if options.rate else None
    app.state.wrong_keys = RateLimit(
        options.wrong_keys_per_minute, 60.0, "Too many wrong keys from this address."
    )
    app.state.event_sockets = EventSocketLimits(
        options.max_event_sockets, options.max_event_sockets_per_key
    )
    cors = Cors(
        ExactPathRouter(app.framework, _FIXED_ROUTES),
        allow_origins=options.cors_origins,
        allow_origin_regex=options.cors_origin_regex,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["X-Request-Id", *MEMORY_HEADERS],
    )
    app.entry_point = RequestFrame(cors, options)
    return app


async def warm_up() -> None:
    """Build request parsers and response serializers, and yield to other tasks after each one.

    Otherwise the first caller of each route would wait; done before startup, every caller would.
    """
    for model in all_models():
        model.model_rebuild()
        await asyncio.sleep(0)
    for route in _ROUTES:
        endpoint_parameters(route.endpoint)
        await asyncio.sleep(0)
