"""Serve a mem0 route: check the key, then parse the body; errors are `{"detail": …}`."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from plastic_memories.errors import (
    BadRequest,
    NotAllowed,
    NotAuthenticated,
    PlasticMemoriesError,
    TooManyRequests,
)
from plastic_memories.http.caller_context import (
    authenticate_key,
    is_user_id,
    request_key,
    requested_user,
    validate_input,
)
from plastic_memories.http.envelope import InvalidRequest, http_status
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.http.options import HttpOptions
from plastic_memories.http.routing import (
    WRITES,
    Endpoint,
    EndpointParameters,
    Handler,
    endpoint_parameters,
)
from plastic_memories.hub.hub import Hub
from plastic_memories.logs import request_fields
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.owner import User
from plastic_memories.runtime.metered_storage import current_tenant

logger = logging.getLogger(__name__)
_UNREADABLE_ERRORS = ("json_invalid", "bytes_invalid")


@dataclass(frozen=True, slots=True)
class Mem0Call:
    """One request with a valid key. The body, the filters or the ids name its user."""

    request: Request
    key: ApiKey
    hub: Hub
    options: HttpOptions

    def caller(self, user_id: str) -> Caller:
        """Return the caller for a user: a user key allows its own, an app key any of its tenant."""
        own = self.key_user_id
        if own and user_id not in ("", own):
            raise NotAllowed(
                "This key belongs to another user. Leave user_id out, or use an app key: "
                "plastic-memories keys create --app-key"
            )
        chosen = own or user_id or requested_user(self.request.headers)
        if own is None and not is_user_id(chosen):
            raise BadRequest("This is an app key: name the user in user_id.")
        user = User(self.key.tenant_id, chosen)
        caller = Caller(user=user, key=self.key, request_id=self.request.state.request_id)
        self.request.state.caller = caller
        request_fields.set({**request_fields.get(), "user_id": chosen})
        return caller

    @property
    def key_user_id(self) -> str | None:
        """Return the user of this key; None for an app key, which serves its whole tenant."""
        return None if self.key.is_app_key else self.key.user_id

    def now(self) -> float:
        return self.hub.storage.clock.now()

    def check_length(self, text: str, limit: int) -> None:
        if len(text) > limit:
            raise BadRequest(f"A text is longer than {limit} characters.")


Mem0ReadCall = Annotated[Mem0Call, "reads"]
Mem0WriteCall = Annotated[Mem0Call, WRITES]


def mem0_endpoint(endpoint: Endpoint) -> Handler:
    """Serve `async def route(call, body, query, …)`: any of these, and path parameters."""

    async def handle(request: Request) -> Response:
        try:
            call = await _admit_request(request)
            parameters = endpoint_parameters(endpoint)
            if parameters.writes and call.key.limits.read_only:
                raise NotAllowed("This key may only read.")
            answer = await endpoint(call=call, **await _read_arguments(parameters, request))
        except PlasticMemoriesError as error:
            logger.info("api.error", extra={"fields": {"code": error.code}})
            return _error_response(error)
        except InvalidRequest as error:
            return _validation_response(error)
        body = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        return Response(body, media_type="application/json")

    return handle


async def _admit_request(request: Request) -> Mem0Call:
    state = request.app.state
    text = request_key(request.headers)
    if not text:
        raise NotAuthenticated("Authentication credentials were not provided.")
    key = await authenticate_key(request, text)
    if state.rate is not None:
        state.rate.take_request(key.digest)
    current_tenant.set(key.tenant_id)
    return Mem0Call(request, key, await open_hub_of(request), state.options)


async def _read_arguments(parameters: EndpointParameters, request: Request) -> dict[str, Any]:
    found = {name: part for name, part in request.path_params.items() if name in parameters.names}
    if "body" in parameters.models:
        raw = await request.body() or b"{}"
        found["body"] = validate_input(lambda: parameters.models["body"].validate_json(raw), "body")
    if "query" in parameters.models:
        params = dict(request.query_params)
        found["query"] = validate_input(
            lambda: parameters.models["query"].validate_python(params), "query"
        )
    return found


def _error_response(error: PlasticMemoriesError) -> Response:
    headers = {}
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str((error.detail or {}).get("seconds", 1))
    return JSONResponse({"detail": error.message}, http_status(type(error)), headers)


def _validation_response(error: InvalidRequest) -> Response:
    found = error.problems
    if any(part["type"] in _UNREADABLE_ERRORS for part in found):
        return _error_response(BadRequest("The body is not readable JSON."))
    detail = [{"loc": list(p["loc"]), "msg": p["msg"], "type": p["type"]} for p in found]
    return JSONResponse({"detail": detail}, 422)
