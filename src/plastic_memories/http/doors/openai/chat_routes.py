"""/v1/chat/completions and /v1/models: OpenAI's API, with memory."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from plastic_memories.errors import NotAuthenticated, PlasticMemoriesError
from plastic_memories.http.caller_context import (
    admit_request,
    authenticate_key,
    request_key,
    requested_user,
)
from plastic_memories.http.doors.openai.chat_request import parse_chat_request
from plastic_memories.http.doors.openai.chat_turn import MemoryInjection, parse_turn
from plastic_memories.http.doors.openai.failures import openai_endpoint
from plastic_memories.http.doors.openai.model_list import with_personas
from plastic_memories.http.doors.openai.relay import RelayedReply, RelayResponse, UpstreamRequest
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.routing import Routes, error_responses
from plastic_memories.model.key import ApiKey


class OpenAIErrorBody(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIErrorEnvelope(BaseModel):
    """An error of the hub or of the upstream, in OpenAI's shape."""

    error: OpenAIErrorBody


_FAILURES = error_responses(OpenAIErrorEnvelope, (400, 401, 403, 413, 429, 502, 503, 504))
# For the OpenAPI document. All other request fields are for the upstream.
_CHAT_SCHEMA = {
    "type": "object",
    "title": "ChatBody",
    "additionalProperties": True,
    "properties": {
        "model": {"type": "string", "title": "Model"},
        "messages": {"type": "array", "items": {"type": "object"}, "title": "Messages"},
        "stream": {"type": "boolean", "title": "Stream", "default": False},
        "user": {"type": "string", "title": "User"},
        "metadata": {"type": "object", "title": "Metadata"},
    },
}
_CHAT_DOCUMENT = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": _CHAT_SCHEMA}},
    },
}
_CHAT_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The upstream's answer",
        "content": {"application/json": {}, "text/event-stream": {}},
    }
}
_MODEL_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The upstream's answer", "content": {"application/json": {}}}
}
_OK = 200
router = Routes(
    openai_endpoint,
    prefix="/v1",
    tags=["openai"],
    responses=_FAILURES,
    default_response_class=Response,
)


@router.post("/chat/completions", openapi_extra=_CHAT_DOCUMENT, responses=_CHAT_RESPONSES)
async def chat_completions(request: Request) -> Response:
    """Forward a chat to the upstream with relevant memories, and store its new messages.

    Request and response are the upstream's own, streamed or not. Name the conversation in
    X-User-Id, X-Persona-Id, X-Session-Id, X-Source-App and X-Bot-Id, in `metadata` under the same
    names, or in a model name of the form `persona@model`.
    """
    await _authenticate(request)
    upstream = _upstream(request)
    chat = parse_chat_request(await request.body())
    identity = chat.identity(request.headers)
    call = await admit_request(request, identity.user_id)
    turn = parse_turn(call, chat, identity)
    injection = await turn.recall_memory(upstream) if turn else MemoryInjection()
    body = chat.for_upstream(identity, injection.messages)
    upstream_request = UpstreamRequest("/chat/completions", request.headers.raw, body)
    return RelayResponse(
        upstream,
        upstream_request,
        injection.headers,
        turn.store_exchange if turn else _discard_reply,
    )


@router.get("/models", responses=_MODEL_RESPONSES)
async def models(request: Request) -> Response:
    """List the upstream's models, and each again as `persona@model` for the user's personas."""
    key = await _authenticate(request)
    upstream = _upstream(request)
    personas, headers = await _personas(request, key)
    body = b""
    async with upstream.stream_request("GET", "/models", request.headers.raw) as answer:
        while chunk := await answer.next_chunk():
            body += chunk
    if answer.status == _OK:
        body = with_personas(body, personas)
    response = Response(body, answer.status, headers)
    response.raw_headers += [
        part for part in answer.forwarded_headers if part[0] != b"content-length"
    ]
    return response


def _upstream(request: Request) -> Upstream:
    upstream: Upstream = request.app.state.upstream
    upstream.check_configured()
    return upstream


async def _authenticate(request: Request) -> ApiKey:
    """Authenticate the key before the body is read."""
    text = request_key(request.headers)
    if not text:
        raise NotAuthenticated("Send the hub's key as the API key (Authorization: Bearer …).")
    return await authenticate_key(request, text)


async def _personas(request: Request, key: ApiKey) -> tuple[list[str], dict[str, str]]:
    """Return the personas the key may use; none if the key names no user."""
    user_id = requested_user(request.headers)
    if key.is_app_key and not user_id:
        if request.app.state.rate is not None:
            request.app.state.rate.take_request(key.digest)
        return [], {}
    call = await admit_request(request, user_id)
    try:
        found = await call.hub.personas.list_personas(call.caller.user)
    except PlasticMemoriesError:
        return [], {"X-Memory-Degraded": "personas"}
    bound = key.limits.persona_id
    names = [one.owner.persona_id for one in found]
    return [name for name in names if bound in ("", name)], {}


def _discard_reply(_passed: RelayedReply) -> None:
    """Ignore the reply: memory is off for this request."""
