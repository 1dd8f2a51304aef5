"""The envelope: every native answer and every error, in one shape."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from plastic_memories import errors
from plastic_memories.http.openapi import failing_as
from plastic_memories.wire.envelope import Failure, Problem

logger = logging.getLogger(__name__)

# Families, not leaves: a new error under a family needs no line here.
STATUS: dict[type[object], int] = {
    errors.BadRequest: 400,
    errors.TemplateError: 400,
    errors.BodyTooLarge: 413,
    errors.InvalidInput: 422,
    errors.Rejected: 400,
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.WrongMethod: 405,
    errors.Conflict: 409,
    errors.TooManyRequests: 429,
    errors.Unavailable: 503,
    errors.PlasticMemoriesError: 500,
}
_BY_STATUS = {400: errors.BadRequest, 404: errors.NotFound, 405: errors.WrongMethod}
# What any route can answer besides success, for the OpenAPI document.
FAILURES = failing_as(Failure, (400, 401, 403, 404, 409, 413, 422, 429, 500, 503))


def status_of(kind: type[errors.PlasticMemoriesError]) -> int:
    """Return the status of the nearest family in the error's own tree."""
    return next(STATUS[family] for family in kind.__mro__ if family in STATUS)


def reply(request: Request, data: BaseModel | Mapping[str, Any]) -> Response:
    """Answer with success. Written straight to JSON: the answer is ours and needs no check."""
    # It writes models and plain data alike, and plain data in half the time of the standard one.
    written = to_json(data)
    request_id = request.scope["state"]["request_id"]
    return _Json(b'{"ok":true,"request_id":"%b","data":%b}' % (request_id.encode(), written))


class _Json(Response):
    """An answer whose headers are known: the framework would ask for each what it may be."""

    media_type = "application/json"

    def __init__(self, body: bytes) -> None:
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", b"application/json"),
        ]


def failure(
    request_id: str, error: errors.PlasticMemoriesError, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Write an error of ours as an answer."""
    problem = Problem(code=error.code, message=error.message, detail=error.detail)
    body = Failure(request_id=request_id, error=problem)
    status = status_of(type(error))
    if isinstance(error, errors.TooManyRequests):
        headers = {**(headers or {}), "Retry-After": str((error.detail or {}).get("seconds", 1))}
    if isinstance(error, errors.NotAuthenticated):
        headers = {**(headers or {}), "WWW-Authenticate": "Bearer"}
    return JSONResponse(body.model_dump(mode="json"), status, headers)


async def on_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of ours."""
    assert isinstance(error, errors.PlasticMemoriesError)
    logger.info("api.error", extra={"fields": {"code": error.code}})
    return failure(request.state.request_id, error)


async def on_invalid(request: Request, error: Exception) -> JSONResponse:
    """Answer a body or parameter that does not fit its schema, without echoing what was sent."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(part["type"] in ("json_invalid", "bytes_invalid") for part in found):
        unreadable = errors.BadRequest("The body is not readable JSON.")
        return failure(request.state.request_id, unreadable)
    detail = [{"loc": list(p["loc"]), "msg": p["msg"], "type": p["type"]} for p in found]
    invalid = errors.InvalidInput("The request does not fit its schema.", detail)
    return failure(request.state.request_id, invalid)


async def on_http(request: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: unknown path, wrong method."""
    assert isinstance(error, HTTPException)
    kind = _BY_STATUS.get(error.status_code, errors.BadRequest)
    headers = dict(error.headers or {})
    known = request.app.state.methods.get(request.url.path)
    if kind is errors.WrongMethod and known:
        # The framework names the methods of the first route it met; a path may have several.
        headers["Allow"] = ", ".join(sorted(known))
    return failure(request.state.request_id, kind(str(error.detail)), headers or None)
