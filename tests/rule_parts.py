"""Every expression and every function of the rules, found by looking into the modules."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import plastic_memories
from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.formats.card_macros import MacroNames
from plastic_memories.formats.pages.page_lines import PageLine, parse_page
from plastic_memories.formats.pages.page_merge import ENGLISH_HEADINGS, PageHeadings, PageMergePlan
from plastic_memories.language.gate.decision import Decision
from plastic_memories.language.gate.gated_drafts import UnreadStatement
from plastic_memories.language.gate.heads import Assessment, trained_heads
from plastic_memories.language.gate.kinds import KeepAs, StatementKind
from plastic_memories.language.reading.clauses import MessageClause, believable_clauses
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.message_reading import ReadClause
from plastic_memories.language.text import lazy_regex as lazy
from plastic_memories.model.card import Card
from plastic_memories.model.entry import Listener
from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm, User, Viewpoint
from plastic_memories.model.page import Encoding
from plastic_memories.rules.lifecycle.retelling import ForgottenStatement, forgotten_statements
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions, memory_from_draft
from plastic_memories.rules.prompt.blocks import BlockStyle, style_for

PACKAGE = plastic_memories.__name__
OWNER = Owner("t", "u", "p")
NOW = datetime(2026, 3, 4, tzinfo=UTC)
# Where text is read: of talk, of what is kept, of files.
_RULES = tuple(f"{PACKAGE}.{part}." for part in ("language", "rules", "formats"))
_CALLS = frozenset({"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
_LAZY = type(lazy.regex(""))  # compiled when it is first used
Text = Callable[[str], object]


def modules() -> list[types.ModuleType]:
    """Return every module of the package but those that run a program when imported."""
    found = pkgutil.walk_packages(plastic_memories.__path__, f"{PACKAGE}.")
    return [importlib.import_module(one.name) for one in found if "__main__" not in one.name]


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every expression by the module and the name that hold it."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for module in modules():
        held = [
            (name, pattern)
            for name, value in list(vars(module).items())
            if module is not lazy  # it holds all of them, without their names
            for pattern in _patterns_in(value, set())
        ]
        for name, pattern in [*held, *_written_in_calls(module)]:
            key = pattern.pattern, pattern.flags
            found.setdefault(key, (f"{len(found)} {module.__name__}.{name}", pattern))
    return dict(found.values())


def _patterns_in(value: object, seen: set[int]) -> Iterator[re.Pattern[str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield from [value] if isinstance(value.pattern, str) else []
    elif isinstance(value, _LAZY):
        yield re.compile(*vars(value)["_source"])
    else:
        for part in _parts_of(value):
            yield from _patterns_in(part, seen)


def _parts_of(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    # Classes and what they make, if they are our own; not what a module has merely imported.
    kind = value if isinstance(value, type) else type(value)
    if not kind.__module__.startswith(PACKAGE):
        return ()
    slots = [getattr(value, name, None) for name in getattr(kind, "__slots__", ())]
    return [*slots, *getattr(value, "__dict__", {}).values()]


def _written_in_calls(module: types.ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the expressions of `re.sub(...)` and its kind, as far as globals spell them out."""
    for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        if is_re and node.func.attr in _CALLS and node.args:
            expression = ast.Expression(node.args[0])
            with suppress(NameError):  # it is made of what a function was given
                text = eval(compile(expression, "", "eval"), vars(module))
                yield f"{node.func.attr}@{node.lineno}", re.compile(text)


def functions() -> dict[str, Text]:
    """Return every public function of the rules that reads text, as a function of that text."""
    found: dict[str, Text | None] = {}
    for module in modules():
        # Word lists are looked up by names that the code gives them, never by text.
        if not module.__name__.startswith(_RULES) or module.__name__.endswith(".word_lists"):
            continue
        for name, function in vars(module).items():
            is_own = getattr(function, "__module__", "") == module.__name__
            if is_own and not name.startswith("_") and not isinstance(function, type):
                found[f"{module.__name__}.{name}".removeprefix(f"{PACKAGE}.")] = _reading(function)
    return {name: work for name, work in found.items() if work}


def _reading(function: object) -> Text | None:
    """Return a call of a function whose first argument is text or made of it, else nothing."""
    if not callable(function):
        return None
    hints = typing.get_type_hints(inspect.unwrap(function))
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or hints.get(parameters[0].name) not in _TEXTUAL:
        return None
    takes = [
        (one.name, one.kind, hints[one.name])
        for one in parameters
        if one.default is one.empty or hints[one.name] in _TEXTUAL
    ]
    made_by = {hint: _maker(hint, function) for _, _, hint in takes}

    def work(text: str) -> None:
        given = [(name, kind, made_by[hint](text)) for name, kind, hint in takes]
        plain = [value for _, kind, value in given if kind is not inspect.Parameter.KEYWORD_ONLY]
        named = {name: value for name, kind, value in given if kind is kind.KEYWORD_ONLY}
        # What cannot be read may be refused: only not slowly.
        with suppress(ValueError, KeyError, PlasticMemoriesError):
            result = function(*plain, **named)
            if isinstance(result, Iterator):
                list(result)

    return work


def _maker(hint: Any, function: object) -> Text:
    """Return what makes an argument of a text: of it, if it can be, else a plain one."""
    if hint in _TEXTUAL:
        return _TEXTUAL[hint]
    for kind, value in _PLAIN.items():
        if hint == kind or typing.get_origin(hint) is kind:  # typing caches no identity
            return lambda _text: value
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda _text: next(iter(hint))
    choices = [one for one in typing.get_args(hint) if one is not type(None)]
    if isinstance(hint, types.UnionType) and choices:
        return _maker(choices[0], function)
    raise LookupError(f"Say in rule_parts.py how {hint} is made, for {function}.")


def _pieces(text: str) -> list[str]:
    """Return a text as one long piece and many short ones."""
    return [text, *(text[place : place + 16] for place in range(0, len(text), 16))]


def _message(text: str) -> Message:
    return Message(owner=OWNER, role=Role.USER, content=text, ts=NOW.timestamp(), id=1)


def _messages(text: str) -> list[Message]:
    return [_message(piece) for piece in _pieces(text)]


def _draft(text: str) -> Draft:
    source = SourceType.USER_EXPLICIT
    return Draft(type=MemoryType.NOTE, key="k", content=text, quote=text, source_type=source)


def _memory(text: str) -> Memory:
    return memory_from_draft(OWNER, _draft(text), NOW.timestamp(), Status.ACTIVE)


def _memories(text: str) -> list[Memory]:
    return [_memory(piece) for piece in _pieces(text)]


def _clauses(text: str) -> list[MessageClause]:
    return [*believable_clauses(text), MessageClause(text, text, text, opens_sentence=True)]


def _read_clauses(text: str) -> list[ReadClause]:
    message, size = _message(text), len(text)
    whole = ReadClause(message, text, 0, size, Realm.REAL)
    spans = ((place, min(size, place + 16)) for place in range(0, size, 16))
    parts = [ReadClause(message, text[one:end], one, end, Realm.REAL) for one, end in spans]
    return [whole, *parts]


_TEXTUAL: dict[Any, Text] = {
    str: lambda text: text,
    bytes: lambda text: text.encode(),
    list[str]: _pieces,
    Sequence[str]: _pieces,
    Iterable[str]: _pieces,
    Iterable[Mapping[str, Any]]: lambda text: [{"content": piece} for piece in _pieces(text)],
    Message: _message,
    Sequence[Message]: _messages,
    Draft: _draft,
    Sequence[Draft]: lambda text: [_draft(piece) for piece in _pieces(text)],
    Iterable[Draft]: lambda text: [_draft(piece) for piece in _pieces(text)],
    Memory: _memory,
    Sequence[Memory]: _memories,
    Iterable[Memory]: _memories,
    Memory | Draft: _memory,
    MessageClause: lambda text: MessageClause(text, text, text, opens_sentence=True),
    Sequence[MessageClause]: _clauses,
    Sequence[ReadClause]: _read_clauses,
    UnreadStatement: lambda text: UnreadStatement(_message(text), text, text),
    ExtractedItem: lambda text: ExtractedItem(text, text, text),
    Card: lambda text: Card(b"", {"name": text, "description": text, "first_mes": text}),
    Sequence[PageLine]: parse_page,
    TalkWindow: lambda text: TalkWindow(owner=OWNER, messages=tuple(_messages(text))),
}
_PLAIN: dict[Any, Any] = {
    int: 100,
    bool: False,
    float: NOW.timestamp(),
    object: None,
    bytes: b"secret",
    Any: None,
    datetime: NOW,
    date: NOW.date(),
    tzinfo: UTC,
    ZoneInfo: ZoneInfo("UTC"),
    Realm: Realm.REAL,
    User: User("t", "u"),
    Owner: OWNER,
    MacroNames: MacroNames(),
    Encoding: Encoding(),
    BlockStyle: style_for("en", UTC, ()),
    ConfirmOptions: ConfirmOptions(),
    Listener: Listener(Viewpoint(OWNER)),
    Assessment: trained_heads().assess("我养了两只猫"),
    Decision: Decision(KeepAs.NOTE, StatementKind.PET, 0.9),
    PageMergePlan: PageMergePlan({}),
    PageHeadings: ENGLISH_HEADINGS,
    Mapping: {},
    Set: frozenset(),
    frozenset: frozenset(),
    Collection: (),
    Sequence[ForgottenStatement]: forgotten_statements([_memory("I am allergic to mango 芒果")]),
    Sequence: (),
    tuple: (),
    Callable: bool,
    typing.Literal["png", "json"]: "json",
}
