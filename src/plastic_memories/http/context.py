"""Who is calling: from the key to the caller, before the body is looked at."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers

from plastic_memories.errors import BadRequest, InvalidInput, NotAllowed, NotAuthenticated
from plastic_memories.http.options import HttpOptions
from plastic_memories.hub.hub import Hub
from plastic_memories.logs import request_fields
from plastic_memories.model.key import ANY_USER, ApiKey, Caller
from plastic_memories.model.owner import Realm, User, Viewpoint
from plastic_memories.wire.text import AsBot

logger = logging.getLogger(__name__)
_USER_ID = re.compile(r"^[^\x00-\x1f\x7f]{1,200}$")


def key_of(headers: Headers) -> str:
    """Return the key of a request: `X-API-Key`, or `Authorization: Bearer|Token`."""
    if key := headers.get("x-api-key"):
        return key.strip()
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() in ("bearer", "token") else ""


async def caller_from(hub: Hub, headers: Headers, request_id: str) -> Caller:
    """Authenticate a request; raise `NotAuthenticated`, or `BadRequest` if no user is named."""
    text = key_of(headers)
    if not text:
        raise NotAuthenticated("Send a key in the header X-API-Key.")
    key = await hub.keys.authenticate(text)
    user_id = _named_user(headers) if key.is_app_key else key.user_id
    return Caller(user=User(key.tenant_id, user_id), key=key, request_id=request_id)


def _named_user(headers: Headers) -> str:
    raw = headers.get("x-user-id", "")
    try:
        # Headers are bytes; clients write Chinese names in UTF-8.
        user_id = raw.encode("latin-1").decode()
    except UnicodeError:
        user_id = ""
    if not _USER_ID.match(user_id) or user_id == ANY_USER:
        raise BadRequest("An app key acts for one user: name it in the header X-User-Id.")
    return user_id


class KeyedRoute(APIRoute):
    """A route that needs a key, asked for before anything of the body is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def keyed(request: Request) -> Response:
            state = request.app.state
            caller = await caller_from(state.hub, request.headers, request.state.request_id)
            if state.rate is not None:
                state.rate.spend(caller.key.digest)
            request.state.caller = caller
            fields = {**request_fields.get(), "user_id": caller.user.user_id}
            request_fields.set(fields)
            return await handle(request)

        return keyed


async def _caller(request: Request) -> Caller:
    """Return the caller; a `user_id` that its client sends along is ignored, and said to be."""
    caller: Caller = request.state.caller
    body = await request.body()
    if b'"user_id"' in body or "user_id" in request.query_params:
        _warn_of_user_id(caller, body, request.query_params.get("user_id"))
    return caller


def _warn_of_user_id(caller: Caller, body: bytes, given: str | None) -> None:
    try:
        sent = json.loads(body).get("user_id") if body else given
    except (ValueError, AttributeError):
        sent = given
    if sent not in (None, caller.user.user_id):
        logger.warning("api.user_id_ignored", extra={"fields": {"key": caller.key.label}})


async def _writer(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
    if caller.key.limits.read_only:
        raise NotAllowed("This key may only read.")
    return caller


# Asynchronous although they wait for nothing: the framework runs plain ones in a thread.
async def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


async def _options(request: Request) -> HttpOptions:
    options: HttpOptions = request.app.state.options
    return options


CallerDep = Annotated[Caller, Depends(_caller)]
WriterDep = Annotated[Caller, Depends(_writer)]
HubDep = Annotated[Hub, Depends(_hub)]
OptionsDep = Annotated[HttpOptions, Depends(_options)]


def app_of(key: ApiKey, given: str | None) -> str:
    """Return the app a request speaks for; a key bound to one app speaks for no other."""
    bound = key.limits.source_app
    if bound and given and given != bound:
        raise NotAllowed("This key is bound to another app.")
    return bound or given or ""


def viewpoint(
    caller: Caller,
    body: AsBot,
    *,
    session_id: str | None = None,
    source_app: str | None = None,
    realm: Realm = Realm.REAL,
    branch_id: str | None = None,
) -> Viewpoint:
    """Return where a request stands."""
    return Viewpoint(
        owner=caller.owner(body.persona_id),
        bot_id=body.bot_id or "",
        all_bots=body.bots == "all",
        session_id=session_id or "",
        source_app=app_of(caller.key, source_app),
        realm=realm,
        branch_id=branch_id or "",
    )


def check_length(text: str | None, limit: int, name: str) -> None:
    """Refuse a text over the configured limit."""
    if text is not None and len(text) > limit:
        detail = [
            {
                "loc": ["body", name],
                "msg": f"must be at most {limit} characters",
                "type": "string_too_long",
            }
        ]
        raise InvalidInput("The request does not fit its schema.", detail)
