"""Request bodies and query strings of the mem0 API."""

from __future__ import annotations

import ast
import json
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from plastic_memories.wire.fields import NonEmptyText, OptionalName, RequestBody, Text
from plastic_memories.wire.memories import Metadata

_MAX_LIMIT = 10_000
# mem0 allows numbers as identifiers.
_AS_TEXT = BeforeValidator(
    lambda value: str(value) if isinstance(value, int) and not isinstance(value, bool) else value
)
_Name = Annotated[OptionalName, _AS_TEXT]
Filters = dict[str, Any]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
_Number = Annotated[int, Field(ge=1, le=_MAX_LIMIT)]


def _as_message_list(value: object) -> object:
    """Return a list of messages: from one text of the user, one message, or a list."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [value] if isinstance(value, dict) else value


def _content_text(value: object) -> object:
    """Return the text of content that comes in parts."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return "" if value is None else value


class Mem0MessageBody(RequestBody):
    """One message; of content in parts, the text."""

    role: str = "user"
    content: Annotated[Text, BeforeValidator(_content_text)] = ""
    name: OptionalName | None = None


class Mem0ScopedRequest(RequestBody):
    """The entities a request is about, in the older form, beside the filters."""

    user_id: _Name | None = None
    agent_id: _Name | None = None
    run_id: _Name | None = None
    app_id: _Name | None = None
    filters: Filters | None = None

    def merged_filters(self) -> Filters:
        """Return the filters of both forms as one."""
        named = {
            name: value
            for name in ("user_id", "agent_id", "run_id", "app_id")
            if (value := getattr(self, name))
        }
        parts = [part for part in (named, self.filters) if part]
        return {"AND": parts} if len(parts) > 1 else {**(parts[0] if parts else {})}


class Mem0AddRequest(Mem0ScopedRequest):
    messages: Annotated[
        list[Mem0MessageBody], Field(min_length=1), BeforeValidator(_as_message_list)
    ]
    metadata: Metadata | None = None
    infer: bool | None = None
    expiration_date: Day | None = None
    timestamp: float | None = Field(default=None, ge=0, le=253_000_000_000)


class Mem0SearchRequest(Mem0ScopedRequest):
    query: NonEmptyText
    top_k: _Number | None = None
    limit: _Number | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    categories: list[str] | None = None
    show_expired: bool | None = None
    reference_date: str | float | None = None


class Mem0ListRequest(Mem0ScopedRequest):
    top_k: _Number | None = None
    limit: _Number | None = None
    categories: list[str] | None = None
    start_date: str | None = None
    end_date: str | None = None
    show_expired: bool | None = None


class Mem0PageQuery(RequestBody):
    page: Annotated[int, Field(ge=1, le=10**9)] | None = None
    page_size: Annotated[int, Field(ge=1, le=1000)] | None = None


def _parse_query_filters(value: object) -> object:
    """Parse filters from a query string; mem0's client writes them as a Python literal."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise ValueError("must be an object")


class Mem0ListQuery(Mem0ListRequest, Mem0PageQuery):
    """The same in a query string."""

    filters: Annotated[Filters | None, BeforeValidator(_parse_query_filters)] = None
    categories: Annotated[
        list[str] | None,
        BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value),
    ] = None


class Mem0UpdateRequest(RequestBody):
    text: NonEmptyText | None = None
    metadata: Metadata | None = None
    expiration_date: Day | None = None


class Mem0BatchItemBody(Mem0UpdateRequest):
    memory_id: str


class Mem0BatchRequest(RequestBody):
    memories: Annotated[list[Mem0BatchItemBody], Field(min_length=1, max_length=1000)]
