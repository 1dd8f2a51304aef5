"""Parse a chat completion request: its messages, its identity, and the fields meant for the hub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import Headers

from plastic_memories.errors import BadRequest
from plastic_memories.http.caller_context import requested_user
from plastic_memories.http.doors.openai.json_splice import (
    JsonSpan,
    object_members,
    replace_members,
    to_json,
)
from plastic_memories.model.message import Role
from plastic_memories.rules.conversation.history_diff import HistoryLine

# Identity fields: headers such as X-Persona-Id, or the same names in `metadata`.
_NAMES = ("user_id", "persona_id", "session_id", "source_app", "bot_id", "memory")
_REWRITE = "mem0_query_rewrite_enabled"
_PROMPT = "mem0_query_rewrite_prompt"
_ENHANCEMENT = "queryEnhancement"
_REWRITE_FIELDS = (_REWRITE, _PROMPT, _ENHANCEMENT)
_VALID_NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")
_TRUE_VALUES = (True, 1, "1", "true", "True", "on", "yes")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
DEFAULT_PERSONA = "default"
DEFAULT_APP = "proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The user, persona and session of a conversation; empty where not given."""

    user_id: str = ""
    persona_id: str = ""
    session_id: str = ""
    source_app: str = ""
    bot_id: str = ""
    memory: str = ""  # "off": no recall and no storing


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOverrides:
    """Query rewriting options of one request; None where not given."""

    rewrite: bool | None = None
    prompt: str = ""
    context_messages: int | None = None
    max_query_chars: int | None = None
    timeout_s: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as received, and its parsed members."""

    text: str
    members: Sequence[JsonSpan]
    fields: Mapping[str, JsonSpan]  # by name; of two with the same name, the last

    @property
    def model(self) -> str:
        return _text_value(self._value("model"))

    @property
    def messages(self) -> Sequence[Mapping[str, Any]] | None:
        """Return the messages; None if they are missing or malformed."""
        found = self._value("messages")
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            return None
        return found

    @property
    def metadata(self) -> Mapping[str, Any]:
        found = self._value("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def rewrite_overrides(self) -> RewriteOverrides:
        return _parse_rewrite_overrides(
            {**self.metadata, **{name: self._value(name) for name in self.fields}}
        )

    def _value(self, name: str) -> Any:
        return self.fields[name].value if name in self.fields else None

    def raw_value(self, name: str) -> str:
        """Return a member's value as raw JSON."""
        found = self.fields[name]
        return self.text[found.start : found.end]

    def identity(self, headers: Headers) -> Identity:
        """Return the identity: from headers, else from `metadata`, else from the model's name."""
        named = {_field_name(name): _name_value(value) for name, value in self.metadata.items()}
        given = {name: memory_header(headers, name) or named.get(name, "") for name in _NAMES}
        given["user_id"] = (
            requested_user(headers) or given["user_id"] or _text_value(self._value("user"))
        )
        identity = Identity(**given)
        persona, at, model = self.model.partition("@")
        if at and persona and model and not identity.persona_id:
            identity = replace(identity, persona_id=persona)
        return identity

    def upstream_model(self, identity: Identity) -> str:
        """Return the model's name without the persona prefix."""
        persona = identity.persona_id
        return self.model.removeprefix(f"{persona}@") if persona else self.model

    def for_upstream(self, identity: Identity, messages: str | None) -> bytes:
        """Return the body without the fields meant for the hub; the rest keeps its bytes."""
        changes: dict[str, str | None] = dict.fromkeys(self.fields.keys() & set(_REWRITE_FIELDS))
        if (model := self.upstream_model(identity)) != self.model:
            changes["model"] = to_json(model)
        ours = [
            name for name in self.metadata if _field_name(name) in _NAMES or name in _REWRITE_FIELDS
        ]
        if ours:
            metadata = self.raw_value("metadata")
            rest = replace_members(metadata, object_members(metadata), dict.fromkeys(ours))
            changes["metadata"] = None if len(ours) == len(self.metadata) else rest
        if messages is not None:
            changes["messages"] = messages
        text = replace_members(self.text, self.members, changes) if changes else self.text
        return text.encode("utf-8", "replace")


def parse_chat_request(body: bytes) -> ChatRequest:
    """Parse a request; raise `BadRequest` if it is not a JSON object."""
    try:
        text = body.decode()
        found = object_members(text)
    except ValueError:
        raise BadRequest("The body is not a readable JSON object.") from None
    return ChatRequest(text, found, {part.key: part for part in found})


def memory_header(headers: Headers, name: str) -> str:
    """Return one of our headers. Its bytes may be UTF-8, or percent-encoded for old clients."""
    value = headers.get(f"x-{name.replace('_', '-')}", "")
    try:
        return unquote(value.encode("latin-1").decode(), errors="strict").strip()
    except UnicodeError:
        raise BadRequest(f"X-{name.replace('_', '-').title()} is not readable UTF-8.") from None


def validate_name(name: str, value: str) -> str:
    """Return a name that can be stored, or raise `BadRequest`."""
    if value and not _VALID_NAME.fullmatch(value):
        raise BadRequest(f"{name} must have 1 to 200 characters and no control characters.")
    return value


def conversation_lines(messages: Iterable[Mapping[str, Any]]) -> tuple[list[HistoryLine], str]:
    """Return the lines of user and assistant, and the reply prefix that the client supplied."""
    lines: list[HistoryLine] = []
    ends_with_assistant = False
    for message in messages:
        role = _ROLES.get(_text_value(message.get("role")))
        text = content_text(message.get("content"))
        ends_with_assistant = role is Role.ASSISTANT and not message.get("tool_calls")
        if role is not None and text.strip():
            lines.append(HistoryLine(role, text))
    if lines and ends_with_assistant and lines[-1].role is Role.ASSISTANT:
        return lines[:-1], lines[-1].text
    return lines, ""


def content_text(content: Any) -> str:
    """Return the text of a message, or of its text parts. Images and audio have none."""
    if isinstance(content, list):
        texts = [_text_value(part.get("text")) for part in content if isinstance(part, dict)]
        content = "\n".join(text for text in texts if text)
    # Lone surrogates and null characters cannot be stored, and no reader misses them.
    return _text_value(content).encode("utf-8", "replace").decode().replace("\0", "")


def _field_name(name: str) -> str:
    """Return a normalized name: `X-Persona-Id` becomes `persona_id`."""
    return name.lower().replace("-", "_").removeprefix("x_")


def _text_value(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _name_value(value: Any) -> str:
    return (
        str(value) if isinstance(value, int) and not isinstance(value, bool) else _text_value(value)
    )


def _bounded_number(value: Any, minimum: int, maximum: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return max(minimum, min(int(float(value)), maximum))
    except (ValueError, OverflowError):
        return None


def _parse_rewrite_overrides(given: Mapping[str, Any]) -> RewriteOverrides:
    found = given.get(_ENHANCEMENT)
    more: Mapping[str, Any] = found if isinstance(found, dict) else {}
    timeout_ms = _bounded_number(more.get("rewriteTimeoutMs"), 1, 30_000)
    return RewriteOverrides(
        rewrite=given[_REWRITE] in _TRUE_VALUES if given.get(_REWRITE) is not None else None,
        prompt=_text_value(given.get(_PROMPT)),
        context_messages=_bounded_number(more.get("contextMessages"), 0, 50),
        max_query_chars=_bounded_number(more.get("maxQueryLength"), 1, 100_000),
        timeout_s=None if timeout_ms is None else timeout_ms / 1000,
        model=_text_value(more.get("rewriteModel")),
    )
