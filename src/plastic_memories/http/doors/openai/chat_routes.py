"""/v1/chat/completions and /v1/models: OpenAI's interface, with a memory."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from plastic_memories.errors import NotAuthenticated, PlasticMemoriesError
from plastic_memories.http.caller_context import admitted, key_of, named_user
from plastic_memories.http.doors.openai.chat_request import read_chat
from plastic_memories.http.doors.openai.chat_turn import Told, turn_of
from plastic_memories.http.doors.openai.failures import as_openai
from plastic_memories.http.doors.openai.model_list import with_personas
from plastic_memories.http.doors.openai.relay import Ask, Passed, Relay
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.http.routing import Routes, failing_as
from plastic_memories.model.key import ApiKey


class OpenAIProblem(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIFailure(BaseModel):
    """An error of the hub or of the upstream, in OpenAI's shape."""

    error: OpenAIProblem


_FAILURES = failing_as(OpenAIFailure, (400, 401, 403, 413, 429, 502, 503, 504))
# For the documents: whatever else stands in a request is the upstream's business.
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
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The upstream's answer",
        "content": {"application/json": {}, "text/event-stream": {}},
    }
}
_LIST: dict[int | str, dict[str, Any]] = {
    200: {"description": "The upstream's answer", "content": {"application/json": {}}}
}
_OK = 200
router = Routes(
    as_openai,
    prefix="/v1",
    tags=["openai"],
    responses=_FAILURES,
    default_response_class=Response,
)


@router.post("/chat/completions", openapi_extra=_CHAT_DOCUMENT, responses=_ANSWERS)
async def chat_completions(request: Request) -> Response:
    """Pass a chat on to the upstream, with what is remembered; keep what is new of it.

    Request and answer are the upstream's own, streamed or not. Whose conversation it is stands in
    X-User-Id, X-Persona-Id, X-Session-Id, X-Source-App and X-Bot-Id, in `metadata` under the
    same names, or in a model name of the form `persona@model`.
    """
    await _known(request)
    upstream = _upstream(request)
    chat = read_chat(await request.body())
    identity = chat.identity(request.headers)
    call = await admitted(request, identity.user_id)
    turn = turn_of(call, chat, identity)
    told = await turn.remember(upstream) if turn else Told()
    body = chat.for_upstream(identity, told.messages)
    ask = Ask("/chat/completions", request.headers.raw, body)
    return Relay(upstream, ask, told.headers, turn.keep if turn else _forget)


@router.get("/models", responses=_LIST)
async def models(request: Request) -> Response:
    """Show the upstream's models, and each once more as `persona@model` for the user's personas."""
    key = await _known(request)
    upstream = _upstream(request)
    personas, headers = await _personas(request, key)
    body = b""
    async with upstream.ask("GET", "/models", request.headers.raw) as answer:
        while chunk := await answer.more():
            body += chunk
    if answer.status == _OK:
        body = with_personas(body, personas)
    response = Response(body, answer.status, headers)
    response.raw_headers += [part for part in answer.returned if part[0] != b"content-length"]
    return response


def _upstream(request: Request) -> Upstream:
    upstream: Upstream = request.app.state.upstream
    upstream.check()
    return upstream


async def _known(request: Request) -> ApiKey:
    """Ask for the key before anything of the body is read."""
    text = key_of(request.headers)
    if not text:
        raise NotAuthenticated("Send the hub's key as the API key (Authorization: Bearer …).")
    key: ApiKey = await request.app.state.hub.keys.authenticate(text)
    return key


async def _personas(request: Request, key: ApiKey) -> tuple[list[str], dict[str, str]]:
    """Return the personas the key may speak for; none, if the key names no user."""
    user_id = named_user(request.headers)
    if key.is_app_key and not user_id:
        if request.app.state.rate is not None:
            request.app.state.rate.spend(key.digest)
        return [], {}
    call = await admitted(request, user_id)
    try:
        found = await call.hub.personas.all(call.caller.user)
    except PlasticMemoriesError:
        return [], {"X-Memory-Degraded": "personas"}
    bound = key.limits.persona_id
    names = [one.owner.persona_id for one in found]
    return [name for name in names if bound in ("", name)], {}


def _forget(_passed: Passed) -> None:
    """Keep nothing of an answer."""
