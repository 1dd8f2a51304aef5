"""POST /mcp: the Model Context Protocol over streamable HTTP."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from plastic_memories.errors import NotFound, PlasticMemoriesError
from plastic_memories.http.caller_context import ReadCall, keyed_endpoint
from plastic_memories.http.envelope import error_response
from plastic_memories.http.routing import Endpoint, Handler, Routes

_PACKAGE = "mcp"
# The protocol reserves this range for implementations; `data.code` has the hub's error code.
_REFUSED = -32_010


def mcp_endpoint(endpoint: Endpoint) -> Handler:
    """Return errors in the protocol's own shape, so that clients can show the reason."""
    serve = keyed_endpoint(endpoint)

    async def handle(request: Request) -> Response:
        if find_spec(_PACKAGE) is None:
            raise NotFound(
                "The MCP door is not installed here: pip install '.[mcp]' in its source folder."
            )
        try:
            return await serve(request)
        except PlasticMemoriesError as error:
            return _refusal(request, error)

    return handle


def _refusal(request: Request, error: PlasticMemoriesError) -> Response:
    native = error_response(request.state.request_id, error)
    reason = {"code": error.code, "detail": error.detail}
    problem = {"code": _REFUSED, "message": error.message, "data": reason}
    headers = {
        name: value
        for name, value in native.headers.items()
        if name in ("www-authenticate", "retry-after")
    }
    body = {"jsonrpc": "2.0", "id": None, "error": problem}
    return JSONResponse(body, native.status_code, headers)


# Not part of the OpenAPI document: the protocol describes itself (`tools/list`).
router = Routes(mcp_endpoint, in_document=False)


@router.post("/mcp")
async def answer_message(call: ReadCall) -> Response:
    """Answer one message of an agent. A tool that writes needs a key that may write."""
    call.request.state.call = call
    await asyncio.to_thread(_load_package)
    return _McpResponse(call.options.max_body_bytes)


class _McpResponse(Response):
    """One message and its response, read and written by the `mcp` package."""

    def __init__(self, max_body_bytes: int) -> None:
        super().__init__()
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # One manager for each request: no state is kept between requests, so there is no session to
        # end when the server stops, and any process can answer the next message.
        server, session_manager = _load_package()
        exchange = session_manager(
            server,
            stateless=True,
            json_response=True,
            max_request_body_size=self._max_body_bytes,
        )
        async with exchange.run():
            await exchange.handle_request(scope, receive, send)


@lru_cache(maxsize=1)
def _load_package() -> tuple[Any, Any]:
    """Import the package at the first message: a hub without MCP clients starts faster."""
    package = import_module("mcp.server.streamable_http_manager")
    server = import_module("plastic_memories.http.doors.mcp.server")
    return server.build_server(), package.StreamableHTTPSessionManager
