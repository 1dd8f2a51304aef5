"""Outermost middleware: request id, body limit, host and origin check, access log."""

from __future__ import annotations

import ipaddress
import itertools
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plastic_memories.errors import BadRequest, BodyTooLarge, NotAllowed, PlasticMemoriesError
from plastic_memories.http.envelope import bug_answer, error_response
from plastic_memories.http.options import HttpOptions
from plastic_memories.logs import request_fields

logger = logging.getLogger(__name__)
_Headers = dict[bytes, bytes]
_VALID_REQUEST_ID = re.compile(r"^[A-Za-z0-9._:\-]{1,128}$")
_IMPORT_PATH = "/import"
_SINGLE_HEADERS = frozenset((b"host", b"origin", b"x-user-id", b"x-api-key", b"authorization"))
# Our own ids: unique by process and counter. Asking the system for randomness releases the
# interpreter lock, which costs 3 to 7 % of the processor time of a small write.
_PROCESS_ID = secrets.token_hex(5)
_REQUEST_COUNTER = itertools.count(1)


class RequestFrame:
    """Outermost middleware: every response has a request id, and no traceback reaches a client."""

    def __init__(self, app: ASGIApp, options: HttpOptions) -> None:
        self._app = app
        self._options = options
        self._origin = re.compile(options.cors_origin_regex) if options.cors_origin_regex else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _first_headers(scope["headers"])
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        token = request_fields.set({"request_id": request_id})
        try:
            if scope["type"] == "websocket":
                await self._serve_websocket(scope, receive, send, headers)
            else:
                await self._serve_http(scope, receive, send, headers)
        finally:
            request_fields.reset(token)

    async def _serve_http(
        self, scope: Scope, receive: Receive, send: Send, headers: _Headers
    ) -> None:
        started = time.perf_counter()
        request_id = scope["state"]["request_id"]
        answer = _ResponseObserver(send, request_id)
        try:
            _check_repeated(scope["headers"], headers)
            self._check_source(headers)
            await self._app(scope, self._limited_receive(scope, receive, headers), answer.send)
        except PlasticMemoriesError as error:
            await error_response(request_id, error)(scope, receive, answer.send)
        except Exception:
            logger.exception("api.error", extra={"fields": {"path": scope["path"]}})
            if not answer.started:
                await bug_answer(request_id)(scope, receive, answer.send)
        _log_request(scope, answer.status, time.perf_counter() - started)

    async def _serve_websocket(
        self, scope: Scope, receive: Receive, send: Send, headers: _Headers
    ) -> None:
        try:
            _check_repeated(scope["headers"], headers)
            self._check_source(headers)
        except (BadRequest, NotAllowed) as error:
            code = 4403 if isinstance(error, NotAllowed) else 4400
            await send({"type": "websocket.close", "code": code, "reason": error.message})
            return
        await self._app(scope, receive, send)

    def _check_source(self, headers: _Headers) -> None:
        """Raise `NotAllowed` for a host or origin that could be a DNS rebinding attack."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not _is_local_name(host, self._options.allowed_hosts):
            raise NotAllowed("This Host is not allowed; name it in PLASTIC_MEMORIES_ALLOWED_HOSTS.")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not self._is_known_origin(origin, host):
            raise NotAllowed(
                "This Origin is not allowed; name it in PLASTIC_MEMORIES_CORS_ORIGINS."
            )

    def _is_known_origin(self, origin: str, host: str) -> bool:
        if "*" in self._options.cors_origins or origin in self._options.cors_origins:
            return True
        if origin.partition("://")[2] == host:
            return True
        return bool(self._origin and self._origin.fullmatch(origin))

    def _limited_receive(self, scope: Scope, receive: Receive, headers: _Headers) -> Receive:
        """Refuse a body over the limit: by its Content-Length, else while it is read."""
        limit, setting = self._options.max_body_bytes, "PLASTIC_MEMORIES_MAX_BODY_BYTES"
        if scope["path"] == _IMPORT_PATH:
            limit, setting = self._options.max_import_bytes, "PLASTIC_MEMORIES_MAX_IMPORT_BYTES"
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and int(declared) > limit:
            raise _body_too_large(limit, setting)
        size = 0

        async def counted_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise _body_too_large(limit, setting)
            return message

        return counted_receive


class _ResponseObserver:
    """Records the status of a response, and adds the request id."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.started = False
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self._request_id.encode())]
        await self._send(message)


def _body_too_large(limit: int, setting: str) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {limit} bytes; {setting} is the limit.",
        {"limit": limit, "setting": setting},
    )


def _first_headers(headers: list[tuple[bytes, bytes]]) -> _Headers:
    return dict(reversed(headers))


def _check_repeated(sent: list[tuple[bytes, bytes]], first: _Headers) -> None:
    """Raise `BadRequest` for a repeated header that decides who calls or whom.

    A proxy in front may have checked another one of them than we would read.
    """
    if len(first) == len(sent):
        return
    repeated = {name for name, count in Counter(name for name, _ in sent).items() if count > 1}
    if names := sorted(repeated & _SINGLE_HEADERS):
        raise BadRequest(f"The header {names[0].decode()} is sent more than once.")


def _request_id(headers: _Headers) -> str:
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _VALID_REQUEST_ID.match(given) else f"{_PROCESS_ID}-{next(_REQUEST_COUNTER):x}"


@lru_cache(maxsize=256)
def _is_local_name(host: str, allowed: tuple[str, ...]) -> bool:
    """Return whether a host is an IP address or has no dot: DNS rebinding cannot use either."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if "*" in allowed or name in allowed or host in allowed or "." not in name.rstrip("."):
        return True
    if name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _log_request(scope: Mapping[str, Any], status: int, seconds: float) -> None:
    state = scope.get("state", {})
    caller = state.get("caller")
    route = getattr(scope.get("route"), "path", "(none)")
    fields = {
        "method": scope["method"],
        "route": route,
        "status": status,
        "duration_ms": round(seconds * 1000, 2),
        "user_id": caller.user.user_id if caller else None,
    }
    logger.info("api.request", extra={"fields": fields})
    meter = getattr(getattr(scope["app"].state, "hub", None), "meter", None)
    if meter is not None and caller is not None:
        meter.count(caller.user.tenant_id, "http_requests", route=route, status=str(status))
        meter.observe(caller.user.tenant_id, "http_request_seconds", seconds, route=route)
