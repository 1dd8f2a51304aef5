"""Errors in the shape that OpenAI clients expect."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from plastic_memories.errors import NotAuthenticated, PlasticMemoriesError, TooManyRequests
from plastic_memories.http.envelope import http_status
from plastic_memories.http.routing import Endpoint, Handler

logger = logging.getLogger(__name__)
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_SERVER_FAULT = 500


class UpstreamError(Exception):
    """The upstream failed, or none is configured."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def openai_error(status: int, code: str, message: str, headers: dict[str, str]) -> Response:
    other = "api_error" if status >= _SERVER_FAULT else "invalid_request_error"
    error = {
        "message": message,
        "type": _ERROR_TYPES.get(status, other),
        "param": None,
        "code": code,
    }
    return JSONResponse({"error": error}, status, headers)


def _openai_error_of(error: PlasticMemoriesError) -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str((error.detail or {}).get("seconds", 1))
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return openai_error(http_status(type(error)), error.code, error.message, headers)


def openai_endpoint(endpoint: Endpoint) -> Handler:
    """Serve `async def route(request)`, with errors in OpenAI's shape.

    The route authenticates the caller itself, because the body may name the user.
    """

    async def handle(request: Request) -> Response:
        try:
            answer: Response = await endpoint(request)
        except PlasticMemoriesError as error:
            logger.info("api.error", extra={"fields": {"code": error.code}})
            return _openai_error_of(error)
        except UpstreamError as error:
            logger.warning("proxy.upstream", extra={"fields": {"code": error.code}})
            return openai_error(error.status, error.code, error.message, {})
        return answer

    return handle
