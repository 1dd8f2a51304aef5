"""Generate the SDK's memory types and request types from the hub's wire models.

The SDK installs without the hub, so it cannot import them: a new field reaches the SDK when these
files are generated again.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from clients.python.generator.source import PACKAGE, ROOT, render_file
from pydantic import BaseModel

from plastic_memories.model.memory import Scope, SourceType
from plastic_memories.model.owner import Realm
from plastic_memories.wire import erasure, recall
from plastic_memories.wire import memories as wire

# Enumerations with their own alias; all others are plain text to the SDK.
ALIASES: dict[type[StrEnum], str] = {Realm: "Realm", Scope: "Scope", SourceType: "SourceType"}
# Every form in which the hub returns a memory is one class of the SDK.
ROWS = (wire.MemoryRow, wire.MemoryListRow, wire.ScoredMemoryRow, wire.MemoryVersionRow)
NESTED: dict[type[BaseModel], str] = {wire.ReplacedRow: "Replaced"}
# Values that an older hub leaves out.
DEFAULTS = {"realm": '"real"'}
EMPTY_VALUES = {"int": "0", "str": '""', "bool": "False"}


@dataclass(frozen=True, slots=True)
class Options:
    """The fields a caller may send, `without` those that the SDK declares or fills in itself."""

    body: type[BaseModel]
    docstring: str
    without: frozenset[str]


# Written by hand, because the SDK accepts more than the hub: other types, or client defaults.
ORIGIN = frozenset({"persona_id", "session_id", "source_app", "bot_id", "bots", "branch_id"})
OPTIONS = {
    "MemoryFields": Options(
        wire.MemoryBody,
        "Optional fields of a memory.",
        frozenset({"type", "key", "content"}),
    ),
    "MemoryChange": Options(
        wire.UpdateMemoryRequest,
        "Given fields are sent, None too: `expires_at=None` removes the expiry.",
        ORIGIN | {"memory_id"},
    ),
    "ListFields": Options(
        wire.ListMemoriesQuery, "Filters of a memory list.", (ORIGIN - {"session_id"}) | {"cursor"}
    ),
    "ForgetFields": Options(
        erasure.ForgetMemoryRequest, "What to forget, and how.", ORIGIN | {"type", "key"}
    ),
    "RecallFields": Options(
        recall.RecallRequest,
        "Optional fields of a recall.",
        ORIGIN | {"query", "recent_messages", "include"},
    ),
}


def files() -> dict[str, Callable[[], str]]:
    """Return the generated files by path in the repository, each with its generator."""
    made = {"models/memory_item.py": _models, "wire_options.py": _options}
    folder = PACKAGE.relative_to(ROOT).as_posix()
    return {f"{folder}/{name}": _generator(name, body) for name, body in made.items()}


def _generator(name: str, body: Callable[[], str]) -> Callable[[], str]:
    return lambda: render_file(body(), PACKAGE / name, "the hub's wire models")


def _models() -> str:
    return "\n".join(
        [
            '"""A memory as the hub returns it."""',
            "from __future__ import annotations",
            "from typing import Any",
            "from pydantic import Field",
            "from .record import Record",
            "class Replaced(Record):",
            '    """An active memory that confirming the candidate would end."""',
            *_model_lines(wire.ReplacedRow),
            "class MemoryItem(Record):",
            '    """One version of a memory. Times are epoch seconds, UTC."""',
            *_model_lines(*ROWS),
            "",
        ]
    )


def _options() -> str:
    lines = [
        '"""Fields of requests about memories, as the hub names them."""',
        "from __future__ import annotations",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal, TypedDict",
        *(f"{name} = {_literal(kind)}" for kind, name in ALIASES.items()),
    ]
    for name, options in OPTIONS.items():
        lines += [f"class {name}(TypedDict, total=False):", f'    """{options.docstring}"""']
        lines += _option_lines(options.body, options.without)
    return "\n".join(lines) + "\n"


def _fields(*bodies: type[BaseModel]) -> dict[str, Any]:
    return {name: field.annotation for body in bodies for name, field in body.model_fields.items()}


def _model_lines(first: type[BaseModel], *others: type[BaseModel]) -> Iterator[str]:
    for name, annotation in _fields(first, *others).items():
        # A field that only some forms have may be missing in the others.
        kind = _read_type(annotation if name in first.model_fields else annotation | None)
        yield f"    {name}: {kind} = {DEFAULTS.get(name) or _default(kind)}"


def _option_lines(body: type[BaseModel], without: frozenset[str]) -> Iterator[str]:
    for name, annotation in _fields(body).items():
        if name not in without:
            yield f"    {name}: {_send_type(annotation)}"


def _read_type(annotation: Any) -> str:
    """Return the SDK's type of a field that is read: any hub may leave it out."""
    kind, optional = _without_none(annotation)
    origin = get_origin(kind)
    if origin is list:
        return f"list[{_read_type(get_args(kind)[0])}]"
    if origin is dict or (_is_class(kind, BaseModel) and kind not in NESTED):
        return "dict[str, Any]"
    if kind in NESTED:
        return NESTED[kind]
    if _is_class(kind, StrEnum) or kind is str:
        return "str"
    return f"{kind.__name__} | None" if optional or kind is float else kind.__name__


def _default(kind: str) -> str:
    if kind.endswith("None"):
        return "None"
    if "[" in kind:
        return f"Field(default_factory={kind.partition('[')[0]})"
    return EMPTY_VALUES[kind]


def _send_type(annotation: Any) -> str:
    """Return the SDK's type of a field that is sent."""
    kind, optional = _without_none(annotation)
    return _send_name(kind) + (" | None" if optional else "")


def _send_name(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (list, tuple):
        return f"Sequence[{_send_type(get_args(kind)[0])}]"
    if origin is dict:
        return "Mapping[str, Any]"
    if origin is Literal:
        return _literal(get_args(kind))
    if _is_class(kind, StrEnum):
        return ALIASES.get(kind, "str")
    return str(kind.__name__)


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """Return a type without its limits and without None, and whether None was allowed."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    parts = get_args(annotation)
    kinds = [part for part in parts if part is not types.NoneType]
    return _without_none(kinds[0])[0], types.NoneType in parts


def _literal(values: Iterable[str]) -> str:
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def _is_class(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
