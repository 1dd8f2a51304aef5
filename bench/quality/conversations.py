"""Labelled conversations: load them from files, and draw a fixed sample."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_SEED = 7


class UnreadableData(Exception):
    """A file of conversations is not in the expected format."""


@dataclass(frozen=True)
class Memory:
    id: str
    text: str
    session: str | None = None
    speaker: str | None = None
    at: float | None = None


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    category: str
    gold: tuple[frozenset[str], ...]
    asked_at: float | None = None


@dataclass(frozen=True)
class Conversation:
    """The messages of one person over time, and questions about them."""

    dataset: str
    id: str
    memories: tuple[Memory, ...]
    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        """Return a name that is unique among all data sets."""
        return f"{self.dataset}.{self.id}"

    @property
    def last_at(self) -> float | None:
        return max((memory.at for memory in self.memories if memory.at is not None), default=None)


@dataclass(frozen=True)
class Profile:
    """The sample size for each data set; None uses everything."""

    name: str
    conversations: int | None = None
    questions: int | None = None


QUICK = Profile("quick", conversations=2, questions=50)
FULL = Profile("full")


def read_folder(folder: Path, only: frozenset[str] = frozenset()) -> list[Conversation]:
    """Load every `*.jsonl` and `*.jsonl.gz`; `only` names the data sets to use."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    found = [conversation for file in files for conversation in _read(file)]
    return [one for one in found if not only or one.dataset in only]


def sample(conversations: list[Conversation], profile: Profile) -> list[Conversation]:
    """Return the same sample of conversations and questions every time, in file order."""
    sets: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        sets.setdefault(conversation.dataset, []).append(conversation)
    return [one for name, items in sets.items() for one in _sample(name, items, profile)]


def _sample(name: str, items: list[Conversation], profile: Profile) -> Iterator[Conversation]:
    draw = random.Random(f"{_SEED} {name}")
    kept = _draw(draw, items, profile.conversations)
    asked = [(place, one) for place, item in enumerate(kept) for one in item.questions]
    chosen = _draw(draw, asked, profile.questions)
    for place, item in enumerate(kept):
        yield replace(item, questions=tuple(one for where, one in chosen if where == place))


def _draw(draw: random.Random, items: list[T], number: int | None) -> list[T]:
    if number is None or number >= len(items):
        return items
    return [items[place] for place in sorted(draw.sample(range(len(items)), number))]


def _read(file: Path) -> Iterator[Conversation]:
    names: set[str] = set()
    for number, line in _lines(file):
        if not line.strip():
            continue
        try:
            found = _conversation(json.loads(line.decode("utf-8-sig")), _set_name(file))
            _refuse_if(found.name in names, f"there is a conversation {found.id!r} already")
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableData(f"{file}, line {number}: {_reason(error)}") from error
        names.add(found.name)
        yield found


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    opener = gzip.open if file.suffix == ".gz" else open
    try:
        with opener(file, "rb") as lines:
            yield from enumerate(lines, start=1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableData(f"{file} cannot be read: {error}") from error


def _set_name(file: Path) -> str:
    return file.name.split(".")[0]


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return str(error) or type(error).__name__


def _refuse_if(wrong: bool, why: str) -> None:
    if wrong:
        raise ValueError(why)


def _conversation(line: Any, file_name: str) -> Conversation:
    _refuse_if(not isinstance(line, dict), "not an object")
    memories = tuple(_memory(one) for one in _rows(line, "memories"))
    ids = Counter(memory.id for memory in memories)
    twice = [one for one, number in ids.items() if number > 1]
    _refuse_if(bool(twice), f"memories share the id {', '.join(map(repr, twice[:3]))}")
    asked = [_question(one, place, ids) for place, one in enumerate(_rows(line, "questions"))]
    # A question without evidence cannot be scored.
    questions = tuple(one for one in asked if one.gold)
    _refuse_if(not questions, "no question has evidence (gold)")
    return Conversation(
        dataset=str(line.get("dataset") or file_name),
        id=str(line["conv_id"]),
        memories=memories,
        questions=questions,
    )


def _rows(line: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = line[name]
    good = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    _refuse_if(not good, f"{name} is not a list of objects")
    _refuse_if(not rows, f"{name} is empty")
    return list(rows)


def _memory(row: dict[str, Any]) -> Memory:
    session = row.get("session")
    return Memory(
        id=str(row["id"]),
        text=_text(row, f"memory {row['id']!r}"),
        session=None if session is None else str(session),
        speaker=row.get("speaker"),
        at=_epoch(row.get("ts")),
    )


def _question(row: dict[str, Any], place: int, ids: Container[str]) -> Question:
    name = str(row.get("id", place))
    return Question(
        id=name,
        text=_text(row, f"question {name!r}"),
        category=str(row.get("category") or "all"),
        gold=_gold(row["gold"], name, ids),
        asked_at=_epoch(row.get("asked_at")),
    )


def _text(row: dict[str, Any], what: str) -> str:
    text = str(row["text"])
    _refuse_if(not text.strip(), f"{what} has no text")
    return text


def _gold(groups: Any, name: str, ids: Container[str]) -> tuple[frozenset[str], ...]:
    """Parse groups of evidence; an unknown id would only lower the score."""
    good = isinstance(groups, list) and all(isinstance(group, list) for group in groups)
    _refuse_if(not good, f"question {name!r}: gold is not a list of lists of ids")
    gold = tuple(frozenset(map(str, group)) for group in groups if group)
    unknown = sorted(one for group in gold for one in group if one not in ids)
    named = ", ".join(map(repr, unknown[:3]))
    _refuse_if(bool(unknown), f"question {name!r}: gold names {named}, which is no memory here")
    return gold


def _epoch(text: str | None) -> float | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
