"""Labelled conversations: reading them from files, and taking a fixed sample."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
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
    """What one person said over time, and questions about it."""

    dataset: str
    id: str
    memories: tuple[Memory, ...]
    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        """Return a name of its own among all data sets."""
        return f"{self.dataset}.{self.id}"

    @property
    def last_at(self) -> float | None:
        return max((memory.at for memory in self.memories if memory.at is not None), default=None)


@dataclass(frozen=True)
class Profile:
    """How much of each data set is taken; None takes everything."""

    name: str
    conversations: int | None = None
    questions: int | None = None


QUICK = Profile("quick", conversations=2, questions=50)
FULL = Profile("full")


def read_folder(folder: Path, only: frozenset[str] = frozenset()) -> list[Conversation]:
    """Read every `*.jsonl` and `*.jsonl.gz`; `only` names data sets to keep."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    found = [conversation for file in files for conversation in _read(file)]
    return [one for one in found if not only or one.dataset in only]


def sample(conversations: list[Conversation], profile: Profile) -> list[Conversation]:
    """Take the same conversations and questions every time, in their order in the files."""
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
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield _conversation(json.loads(line), file.name.split(".")[0])
            except (KeyError, TypeError, ValueError) as error:
                raise UnreadableData(f"{file}, line {number}: {error!r}") from error


def _conversation(line: dict[str, Any], file_name: str) -> Conversation:
    questions = enumerate(line["questions"])
    return Conversation(
        dataset=str(line.get("dataset") or file_name),
        id=str(line["conv_id"]),
        memories=tuple(_memory(one) for one in line["memories"]),
        # A question without evidence cannot be scored.
        questions=tuple(_question(one, place) for place, one in questions if any(one["gold"])),
    )


def _memory(row: dict[str, Any]) -> Memory:
    session = row.get("session")
    return Memory(
        id=str(row["id"]),
        text=str(row["text"]),
        session=None if session is None else str(session),
        speaker=row.get("speaker"),
        at=_epoch(row.get("ts")),
    )


def _question(row: dict[str, Any], place: int) -> Question:
    return Question(
        id=str(row.get("id", place)),
        text=str(row["text"]),
        category=str(row.get("category") or "all"),
        gold=tuple(frozenset(map(str, group)) for group in row["gold"] if group),
        asked_at=_epoch(row.get("asked_at")),
    )


def _epoch(text: str | None) -> float | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
