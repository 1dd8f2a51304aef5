"""Authenticate requests: resolve the caller from the API key before the body is read."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from plastic_memories.errors import BadRequest, InvalidInput, NotAllowed, NotAuthenticated
from plastic_memories.http.envelope import InvalidRequest, success_response
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.http.options import HttpOptions
from plastic_memories.http.routing import (
    WRITES,
    Endpoint,
    EndpointParameters,
    Handler,
    endpoint_parameters,
)
from plastic_memories.http.session_cookie import session_secret
from plastic_memories.hub.hub import Hub
from plastic_memories.logs import request_fields
from plastic_memories.model.key import ANY_USER, ApiKey, Caller
from plastic_memories.model.owner import Owner, User, Viewpoint
from plastic_memories.runtime.metered_storage import current_tenant
from plastic_memories.wire.fields import BotRequest

logger = logging.getLogger(__name__)
_USER_ID = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")


def request_key(headers: Headers) -> str:
    """Return the API key of a request: `X-API-Key`, or `Authorization: Bearer|Token`.

    Without one, return the secret of the console's session, which stands for its key.
    """
    if key := headers.get("x-api-key"):
        return key.strip()
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return value.strip()
    return session_secret(headers)


async def authenticate_key(connection: HTTPConnection, key_text: str) -> ApiKey:
    """Return the record of a key; raise `NotAuthenticated`.

    After many wrong keys from one address the next wrong one raises `TooManyRequests`. A right
    key is always accepted: others may share the address.
    """
    state = connection.app.state
    hub = await open_hub_of(connection)
    try:
        return await hub.keys.authenticate(key_text)
    except NotAuthenticated:
        if key_text:
            state.wrong_keys.take_request(connection.client.host if connection.client else "")
        raise


async def authenticate_caller(
    connection: HTTPConnection, key_text: str, user_id: str, request_id: str
) -> Caller:
    """Authenticate a request; raise `NotAuthenticated`, or `BadRequest` if no user is named."""
    if not key_text:
        raise NotAuthenticated("Send a key in the header X-API-Key.")
    key = await authenticate_key(connection, key_text)
    if not key.is_app_key:
        user_id = key.user_id
    elif not is_user_id(user_id):
        raise BadRequest("An app key acts for one user: name it in the header X-User-Id.")
    return Caller(user=User(key.tenant_id, user_id), key=key, request_id=request_id)


def is_user_id(text: str) -> bool:
    """Return whether an app key may act for a user with this id."""
    return bool(_USER_ID.fullmatch(text)) and text != ANY_USER


def requested_user(headers: Headers) -> str:
    """Return the user id in the headers. Header values are bytes; clients send UTF-8 names."""
    try:
        return headers.get("x-user-id", "").encode("latin-1").decode()
    except UnicodeError:
        return ""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One authenticated request, with the hub and the options that serve it."""

    request: Request
    caller: Caller
    hub: Hub
    options: HttpOptions

    def owner(self, persona_id: str) -> Owner:
        """Return the owner of a persona; log lines of the request name the persona from here on."""
        owner = self.caller.owner(self.hub.screening.screen_identifier(persona_id))
        request_fields.set({**request_fields.get(), "persona_id": persona_id})
        return owner

    def now(self) -> float:
        return self.hub.storage.clock.now()

    def app(self, given: str | None) -> str:
        """Return the app of this request; raise `NotAllowed` if the key is bound to another app."""
        bound = self.caller.key.limits.source_app
        if bound and given and given != bound:
            raise NotAllowed("This key is bound to another app.")
        return bound or given or ""

    def view(self, body: BotRequest, **place: Any) -> Viewpoint:
        """Return the viewpoint of this request; `place` sets session, realm and the like."""
        return Viewpoint(
            owner=self.owner(body.persona_id),
            bot_id=body.bot_id or "",
            all_bots=body.bots == "all",
            source_app=self.app(place.pop("source_app", None)),
            only_app=self.caller.key.limits.source_app,
            **place,
        )

    def check_length(self, text: str | None, name: str, limit: int | None = None) -> None:
        """Raise `InvalidInput` if a text is over the limit, by default the configured one."""
        max_chars = limit or self.options.max_content_chars
        if text is not None and len(text) > max_chars:
            problem = {
                "loc": ["body", name],
                "msg": f"must be at most {max_chars} characters",
                "type": "string_too_long",
            }
            raise InvalidInput("The request does not fit its schema.", [problem])

    def reply(self, data: BaseModel | Mapping[str, Any]) -> Response:
        return success_response(self.request, data)


# Annotations of a route's `call`: a read-only key may use the first, not the second.
ReadCall = Annotated[ApiCall, "reads"]
WriteCall = Annotated[ApiCall, WRITES]


def keyed_endpoint(endpoint: Endpoint) -> Handler:
    """Serve routes that need a key: `route(body, call)`, `route(query, call)` or `route(call)`.

    The key is checked before the body is read. The body is validated straight from its bytes.
    """

    async def handle(request: Request) -> Response:
        call = await admit_request(request, requested_user(request.headers))
        parameters = endpoint_parameters(endpoint)
        if parameters.writes and call.caller.key.limits.read_only:
            raise NotAllowed("This key may only read.")
        answer: Response = await endpoint(
            **await _read_argument(parameters, request, call.caller), call=call
        )
        return answer

    return handle


async def admit_request(request: Request, user_id: str) -> ApiCall:
    """Authenticate a request for the user it names and apply the rate limit; or raise."""
    state, known = request.app.state, request.scope["state"]
    hub = await open_hub_of(request)
    caller = await authenticate_caller(
        request, request_key(request.headers), user_id, known["request_id"]
    )
    if state.rate is not None:
        state.rate.take_request(caller.key.digest)
    known["caller"] = caller
    current_tenant.set(caller.user.tenant_id)
    request_fields.set({**request_fields.get(), "user_id": caller.user.user_id})
    return ApiCall(request, caller, hub, state.options)


async def _read_argument(
    parameters: EndpointParameters, request: Request, caller: Caller
) -> dict[str, Any]:
    """Parse a route's argument: `body` from the body, or `query` from the query string."""
    if "body" in parameters.models:
        raw = await request.body()
        body = validate_input(lambda: parameters.models["body"].validate_json(raw), "body")
        if b'"user_id"' in raw:
            _warn_about_user_id(caller, json.loads(raw).get("user_id"))
        return {"body": body}
    if "query" in parameters.models:
        params = dict(request.query_params)
        _warn_about_user_id(caller, params.get("user_id"))
        return {
            "query": validate_input(
                lambda: parameters.models["query"].validate_python(params), "query"
            )
        }
    return {}


def validate_input(validate: Callable[[], Any], place: str) -> Any:
    """Return the validated value; raise `InvalidRequest`, which never repeats the input."""
    try:
        return validate()
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise InvalidRequest([{**part, "loc": (place, *part["loc"])} for part in found]) from None


def _warn_about_user_id(caller: Caller, sent: Any) -> None:
    """Log that a `user_id` sent by the client is ignored: the key decides."""
    if sent not in (None, caller.user.user_id):
        logger.warning("api.user_id_ignored", extra={"fields": {"key": caller.key.label}})
