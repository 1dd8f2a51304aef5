"""Routes of the console's views: people, keys, demo, what is never learned, operations."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from plastic_memories.errors import NotAuthenticated
from plastic_memories.http.caller_context import (
    ReadCall,
    WriteCall,
    authenticate_key,
    keyed_endpoint,
    request_key,
    validate_input,
)
from plastic_memories.http.console.session_routes import is_admin_request, require_admin
from plastic_memories.http.envelope import success_response
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.http.routing import Routes, plain_endpoint
from plastic_memories.hub.console.client_keys import KeyWish
from plastic_memories.hub.console.demo_persona import DEMO_PERSONA
from plastic_memories.model.message import Message
from plastic_memories.wire import console as wire
from plastic_memories.wire.fields import PersonaRequest

public = Routes(plain_endpoint, in_document=False)
router = Routes(keyed_endpoint, prefix="/console", in_document=False)


@public.get("/console/people")
async def people(request: Request) -> Response:
    """List the users that the key may act for: its own, or everybody of its tenant."""
    text = request_key(request.headers)
    if not text:
        raise NotAuthenticated("You are signed out.")
    key = await authenticate_key(request, text)
    params = dict(request.query_params)
    query = validate_input(lambda: wire.PeopleQuery.model_validate(params), "query")
    hub = await open_hub_of(request)
    only = None if key.is_app_key else key.user_id
    found = await hub.console.directory.find(key.tenant_id, only, query.q)
    rows = [
        wire.PersonRow(
            user_id=one.user_id,
            name=one.name or None,
            apps=list(one.apps),
            memories=one.memories,
            last_seen_at=one.last_seen_at,
        )
        for one in found
    ]
    return success_response(request, wire.PeopleResponse(items=rows))


@router.get("/never_again")
async def never_again(query: PersonaRequest, call: ReadCall) -> Response:
    """List the marks of what a persona is never to learn again."""
    found = await call.hub.console.directory.never_again(call.owner(query.persona_id))
    rows = [wire.NeverAgainRow(digest=one.digest, created_at=one.created_at) for one in found]
    return call.reply(wire.NeverAgainResponse(items=rows))


@router.post("/allow_again")
async def allow_again(body: wire.AllowAgainRequest, call: WriteCall) -> Response:
    """Remove a mark."""
    owner = call.owner(body.persona_id)
    await call.hub.console.directory.lift_mark(call.caller, owner, body.digest)
    return call.reply(wire.DoneResponse(status="ok"))


@router.get("/keys")
async def keys(call: ReadCall) -> Response:
    """List the keys the caller may see, and when each was last used."""
    is_admin = await is_admin_request(call.request)
    found = await call.hub.console.client_keys.list_keys(call.caller, is_admin=is_admin)
    rows = [wire.KeyRow(**wire.key_row_fields(key)) for key in found]
    return call.reply(wire.KeyListResponse(items=rows))


@router.post("/keys/create")
async def create_key(body: wire.CreateKeyRequest, call: ReadCall) -> Response:
    """Create a key for a client program."""
    wish = KeyWish(label=body.label, read_only=body.read_only, for_all_users=body.for_all_users)
    is_admin = await is_admin_request(call.request)
    text, key = await call.hub.console.client_keys.create(call.caller, wish, is_admin=is_admin)
    return call.reply(wire.CreateKeyResponse(key=text, **wire.key_row_fields(key)))


@router.post("/keys/revoke")
async def revoke_key(body: wire.RevokeKeyRequest, call: WriteCall) -> Response:
    """Revoke a key."""
    is_admin = await is_admin_request(call.request)
    await call.hub.console.client_keys.revoke(call.caller, body.key_id, is_admin=is_admin)
    return call.reply(wire.DoneResponse(status="ok"))


@router.post("/demo/load")
async def load_demo(body: wire.DemoRequest, call: WriteCall) -> Response:
    """Load the demo persona with a month of memories."""
    counts = await call.hub.console.demo.load(call.caller, body.language, call.now())
    call.hub.embedding.wake()
    answer = wire.LoadDemoResponse(status="ok", persona_id=DEMO_PERSONA, counts=dict(counts))
    return call.reply(answer)


@router.post("/demo/remove")
async def remove_demo(call: WriteCall) -> Response:
    """Take the demo persona away again."""
    receipt = await call.hub.console.demo.remove(call.caller)
    return call.reply(wire.RemoveDemoResponse(status="ok", receipt=dict(receipt)))


@router.post("/preview")
async def preview(body: wire.PreviewRequest, call: ReadCall) -> Response:
    """Return what would be learned from a conversation, and store nothing."""
    owner, now = call.owner(body.persona_id), call.now()
    talk = [
        Message(
            owner=owner,
            role=one.role,
            content=one.content,
            ts=now if one.ts is None else one.ts,
            speaker=one.speaker or "",
        )
        for one in body.messages
    ]
    drafts, skipped = await call.hub.learn_from_conversation.preview(owner, talk)
    rows = [
        wire.PreviewRow(type=one.type, key=one.key, content=one.content, quote=one.quote or None)
        for one in drafts
    ]
    answer = wire.PreviewResponse(
        items=rows,
        skipped=[reason for _, reason in skipped],
        masked=[call.hub.screening.mask_message(one).content for one in talk],
    )
    return call.reply(answer)


@router.get("/operations")
async def operations(call: ReadCall) -> Response:
    """Return settings, problems and sizes of this installation, to its operator."""
    await require_admin(call)
    storage = call.hub.storage
    problems = await storage.read(lambda stores: stores.upkeep.check())
    counts = await storage.read(lambda stores: stores.upkeep.counts())
    settings = [
        wire.SettingRow(name=name, value=value, is_default=is_default)
        for name, (value, is_default) in call.options.effective_settings.items()
    ]
    answer = wire.OperationsResponse(
        settings=settings,
        problems=problems,
        counts=dict(counts),
        storage=dict(await storage.backend.describe()),
    )
    return call.reply(answer)
