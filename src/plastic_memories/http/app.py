"""The front door: routes, errors, and what is around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.http import pages
from plastic_memories.http.cors import Cors
from plastic_memories.http.doors.mcp import router as mcp
from plastic_memories.http.doors.mem0 import hosted as mem0_hosted
from plastic_memories.http.doors.mem0 import open_source as mem0_open_source
from plastic_memories.http.doors.openai import routes as openai
from plastic_memories.http.doors.openai.turn import MEMORY_HEADERS
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.envelope import on_error, on_http, on_invalid
from plastic_memories.http.frame import Frame
from plastic_memories.http.openapi import describe
from plastic_memories.http.options import HttpOptions
from plastic_memories.http.rate import RateLimit
from plastic_memories.http.routes import (
    events,
    goals,
    jobs,
    markdown,
    memory,
    messages,
    operations,
    personas,
    recall,
    review,
)
from plastic_memories.http.straight import Straight
from plastic_memories.hub.hub import Hub
from plastic_memories.wire.envelope import Failure

# The framework makes a router ready when a request first comes as far as that: health first.
ROUTERS = (
    operations.public,
    recall.router,
    messages.router,
    memory.router,
    review.router,
    markdown.router,
    personas.router,
    goals.router,
    jobs.router,
    operations.keyed,
    events.router,
    mcp.router,
    openai.router,
    pages.router,
    mem0_open_source.router,
    mem0_hosted.router,
)
OpenHub = Callable[[], AbstractAsyncContextManager[Hub]]


class _Application(FastAPI):
    """The framework's application behind our own door, which serves most requests by itself."""

    door: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self.door(scope, receive, send)

    async def framework(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)


def create_app(options: HttpOptions, open_hub: OpenHub) -> FastAPI:
    """Build the application; the hub is opened when the server starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_hub() as hub:
            app.state.hub = hub
            try:
                yield
            finally:
                await app.state.upstream.close()

    app = _Application(
        title="Plastic Memories",
        version=options.version,
        summary="The memory every AI companion plugs into.",
        lifespan=lifespan,
        # Our own page instead: the usual ones load their scripts from another host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.options = options
    app.state.methods = _methods()
    app.state.upstream = Upstream(options.proxy)
    app.state.rate = RateLimit(*options.rate) if options.rate else None
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(PlasticMemoriesError, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    cors = Cors(
        Straight(app.framework, ROUTERS),
        allow_origins=options.cors_origins,
        allow_origin_regex=options.cors_origin_regex,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["X-Request-Id", *MEMORY_HEADERS],
    )
    app.door = Frame(cors, options)
    describe(app, (Failure, openai.OpenAIFailure))
    return app


def _methods() -> dict[str, set[str]]:
    """Return the methods of each path; several routes may share one."""
    found: dict[str, set[str]] = defaultdict(set)
    for route in (route for router in ROUTERS for route in router.routes):
        if isinstance(route, Route):
            found[route.path] |= route.methods or set()
    return found
