"""Build requests and parse responses. No I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from .errors import PlasticMemoriesClientError, UnreadableAnswer, error_class
from .models import Record, Result

T = TypeVar("T")
ResultT = TypeVar("ResultT", bound=Result)
RecordT = TypeVar("RecordT", bound=Record)

FIRST_FAILURE = 400


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response as received."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """The data of a successful envelope."""

    data: dict[str, Any]
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request, how to parse its reply, and what to return instead of failing."""

    method: str
    path: str
    read: Callable[[Reply], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    content: bytes | None = None
    content_type: str = "application/json"
    fallback: Callable[[PlasticMemoriesClientError], T] | None = None
    retry: bool = True

    def recover(self, error: PlasticMemoriesClientError) -> T:
        """Return the fallback's value; without one, raise the error again."""
        if self.fallback is None:
            raise error
        return self.fallback(error)

    def body(self) -> bytes | None:
        """Return the bytes to send."""
        if self.json is None:
            return self.content
        # "replace": a lone surrogate, cut off by a chat client, is no reason to fail.
        return json.dumps(self.json, ensure_ascii=False).encode("utf-8", "replace")


def without_none(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None.

    >>> without_none(limit=3, days=None)
    {'limit': 3}
    """
    return {name: value for name, value in fields.items() if value is not None}


def get(path: str, read: Callable[[Reply], T], params: Mapping[str, Any] | None = None) -> Call[T]:
    return Call(method="GET", path=path, read=read, params=params or {})


def post(path: str, read: Callable[[Reply], T], body: Mapping[str, Any]) -> Call[T]:
    return Call(method="POST", path=path, read=read, json=body)


def result(kind: type[ResultT]) -> Callable[[Reply], ResultT]:
    """Return a parser that builds one `kind` from the envelope's data."""
    return lambda reply: _result(kind, answer(reply))


def record(kind: type[RecordT], *names: str) -> Callable[[Reply], RecordT]:
    """Return a parser of one object, which may be under one of `names` in the data."""
    return lambda reply: _valid(kind, _inside(answer(reply).data, names))


def records(kind: type[RecordT], name: str = "items") -> Callable[[Reply], list[RecordT]]:
    """Return a parser of a list of `kind`."""
    return lambda reply: [_valid(kind, row) for row in answer(reply).data.get(name) or []]


def text(reply: Reply) -> str:
    """Return a plain text response."""
    check(reply)
    return reply.body.decode("utf-8", "replace")


def file(reply: Reply) -> bytes:
    """Return a file response."""
    check(reply)
    return reply.body


def answer(reply: Reply) -> Answer:
    """Return the content of the envelope; raise the error of a failed response."""
    check(reply)
    envelope = _envelope(reply)
    content = envelope.get("data")
    if not isinstance(content, dict):
        raise UnreadableAnswer("The answer is not one of the hub's.", status=reply.status)
    return Answer(content, _request_id(reply, envelope))


def check(reply: Reply) -> None:
    """Raise the error of a failed response."""
    if reply.status < FIRST_FAILURE:
        return
    envelope = _envelope(reply)
    problem = envelope.get("error")
    problem = problem if isinstance(problem, dict) else {}
    code = str(problem.get("code") or "")
    raise error_class(code, reply.status)(
        str(problem.get("message") or f"The server answered {reply.status}."),
        code=code,
        detail=problem.get("detail"),
        status=reply.status,
        request_id=_request_id(reply, envelope),
        retry_after_s=_seconds(reply.headers.get("Retry-After")),
    )


def _envelope(reply: Reply) -> dict[str, Any]:
    try:
        envelope = json.loads(reply.body)
    except ValueError:
        # A proxy's error page, or another program on this port.
        envelope = None
    return envelope if isinstance(envelope, dict) else {}


def _request_id(reply: Reply, envelope: Mapping[str, Any]) -> str:
    return str(envelope.get("request_id") or reply.headers.get("X-Request-Id") or "")


def _seconds(value: str | None) -> float | None:
    # The header may also be a date; a hub never sends one.
    return float(value) if value is not None and value.isdigit() else None


def _inside(content: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    found = (content[name] for name in names if isinstance(content.get(name), dict))
    return next(found, content)


def _result(kind: type[ResultT], opened: Answer) -> ResultT:
    fields = {**opened.data, "request_id": opened.request_id, "raw": opened.data}
    return _valid(kind, fields)


def _valid(kind: type[RecordT], fields: Any) -> RecordT:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        # The error's own text repeats the input, which is private: name only the places.
        places = [".".join(map(str, problem["loc"])) for problem in error.errors()]
        raise UnreadableAnswer(
            f"The answer does not read as {kind.__name__}.", detail={"fields": places}
        ) from None
