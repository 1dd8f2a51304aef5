"""Routes to sign in to the console and out of it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from plastic_memories.errors import NotAllowed, NotAuthenticated, TooManyRequests
from plastic_memories.formats.qr_code import qr_rows
from plastic_memories.http.caller_context import (
    ApiCall,
    authenticate_key,
    request_key,
    validate_input,
)
from plastic_memories.http.envelope import success_response
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.http.routing import Routes, plain_endpoint
from plastic_memories.http.session_cookie import (
    CONSOLE_HEADER,
    session_secret,
    set_session_cookie,
)
from plastic_memories.hub.console.sign_in import LINK_LIFETIME_S, SESSION_LIFETIME_S
from plastic_memories.model.key import ApiKey
from plastic_memories.wire import console as wire

router = Routes(plain_endpoint, in_document=False)


@router.post("/console/session")
async def sign_in(request: Request) -> Response:
    """Sign in with a one-time link or a key, and set the cookie of the session."""
    _require_console(request)
    body = await request.body()
    given = validate_input(lambda: wire.SignInRequest.model_validate_json(body), "body")
    hub = await open_hub_of(request)
    if given.link is not None:
        secret, key = await _with_link(request, given.link)
    else:
        key = await authenticate_key(request, given.api_key)
        secret = await hub.console.sign_in.with_key(key)
    session = await hub.console.sign_in.find(secret)
    response = success_response(request, signed_in_row(request, key, is_admin=session.is_admin))
    set_session_cookie(request, response, secret, SESSION_LIFETIME_S)
    return response


async def _with_link(request: Request, link: str) -> tuple[str, ApiKey]:
    hub = await open_hub_of(request)
    try:
        return await hub.console.sign_in.with_link(link)
    except NotAuthenticated:
        request.app.state.wrong_keys.take_request(request.client.host if request.client else "")
        raise


@router.get("/console/session")
async def signed_in(request: Request) -> Response:
    """Return who is signed in; raise `NotAuthenticated`."""
    secret = session_secret(request.headers)
    if not secret:
        raise NotAuthenticated("You are signed out.")
    hub = await open_hub_of(request)
    key = await hub.keys.authenticate(secret)
    session = await hub.console.sign_in.find(secret)
    return success_response(request, signed_in_row(request, key, is_admin=session.is_admin))


@router.post("/console/session/end")
async def sign_out(request: Request) -> Response:
    """End this session, or every session of its key."""
    _require_console(request)
    body = await request.body() or b"{}"
    given = validate_input(lambda: wire.SignOutRequest.model_validate_json(body), "body")
    hub, secret = await open_hub_of(request), session_secret(request.headers)
    try:
        ended = await hub.console.sign_in.sign_out(secret, everywhere=given.everywhere)
    except NotAuthenticated:
        ended = 0
    response = success_response(request, wire.SignOutResponse(status="ok", ended=ended))
    set_session_cookie(request, response, "", 0)
    return response


@router.post("/console/link")
async def create_link(request: Request) -> Response:
    """Create a one-time link for another device, with the same rights as the caller's."""
    hub = await open_hub_of(request)
    key = await authenticate_key(request, request_key(request.headers))
    is_admin = await is_admin_request(request)
    link = await hub.console.sign_in.create_link(key, is_admin=is_admin)
    url = f"{request.url.scheme}://{request.headers['host']}/console#link={link}"
    answer = wire.CreateLinkResponse(url=url, expires_in_s=int(LINK_LIFETIME_S), qr=qr_rows(url))
    return success_response(request, answer)


def _require_console(request: Request) -> None:
    if CONSOLE_HEADER not in request.headers:
        raise NotAllowed(f"Send the header {CONSOLE_HEADER}: no other page may sign you in.")


async def is_admin_request(request: Request) -> bool:
    """Return whether a request comes from a session of the operator of this hub."""
    secret = session_secret(request.headers)
    if not secret:
        return False
    hub = await open_hub_of(request)
    try:
        return (await hub.console.sign_in.find(secret)).is_admin
    except (NotAuthenticated, TooManyRequests):
        return False


async def require_admin(call: ApiCall) -> None:
    """Raise `NotAllowed` unless the operator of this hub is signed in."""
    if not await is_admin_request(call.request):
        raise NotAllowed("Only the operator of this hub may do this.")


def signed_in_row(request: Request, key: ApiKey, *, is_admin: bool) -> wire.SignedInResponse:
    options = request.app.state.options
    return wire.SignedInResponse(
        user_id=None if key.is_app_key else key.user_id,
        is_app_key=key.is_app_key,
        is_admin=is_admin,
        read_only=key.limits.read_only,
        persona_id=key.limits.persona_id or None,
        source_app=key.limits.source_app or None,
        version=options.version,
        has_upstream=bool(options.proxy.url),
        address=f"{request.url.scheme}://{request.headers.get('host', '')}",
    )
