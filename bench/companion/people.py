"""The people of CompanionBench: their talk, its labels, and what is asked of it later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# One word of every group must occur in a text.
WordGroups = tuple[tuple[str, ...], ...]
_EVENING_HOUR = 20
_MINUTE_S = 60.0


class UnreadablePeople(Exception):
    """A file of the people is missing or not in the expected format."""


@dataclass(frozen=True)
class Label:
    """What a message tells: `keep` it, keeping it is `ok`, or it is `forbid`den to."""

    kind: str
    category: str
    words: WordGroups
    unless: tuple[str, ...] = ()

    def is_in(self, text: str) -> bool:
        return holds(text, self.words) and not any(word in text.lower() for word in self.unless)


@dataclass(frozen=True)
class Utterance:
    """One labelled message; `nothing` says that there is nothing to keep in it."""

    session: str
    at: float
    role: str
    speaker: str
    text: str
    labels: tuple[Label, ...]
    nothing: bool
    message_type: str = ""


@dataclass(frozen=True)
class Question:
    """What the person says later; one line of the prompt must hold the needed words."""

    text: str
    kind: str
    need: WordGroups


@dataclass(frozen=True)
class Correction:
    """A value that was corrected: the old one must no longer be told as true."""

    what: str
    question: str
    old: WordGroups
    new: WordGroups
    unless: tuple[str, ...]

    def tells_old(self, text: str) -> bool:
        return holds(text, self.old) and not any(word in text.lower() for word in self.unless)


@dataclass
class Person:
    name: str
    language: str
    utterances: list[Utterance] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)

    @property
    def last_at(self) -> float:
        return max(one.at for one in self.utterances)

    def labels(self, kind: str) -> list[Label]:
        return [label for one in self.utterances for label in one.labels if label.kind == kind]


def holds(text: str, groups: WordGroups) -> bool:
    """Return whether a text holds one word of every group."""
    lower = text.lower()
    return bool(groups) and all(any(word in lower for word in group) for group in groups)


def read_people(folder: Path, half: str = "") -> list[Person]:
    """Load the people of a folder; `half` names the ones to use (`dev` or `test`)."""
    people: dict[str, Person] = {}
    halves: dict[str, str] = {}
    for row in read_rows(folder / "messages.jsonl"):
        halves[row["persona"]] = row.get("split", "")
        person = people.setdefault(row["persona"], Person(row["persona"], row["lang"]))
        person.utterances.append(_utterance(row))
    for row in read_rows(folder / "questions.jsonl"):
        question = Question(row["question"], row["kind"], word_groups(row["need"]))
        people[row["persona"]].questions.append(question)
    for row in read_rows(folder / "checks.jsonl"):
        people[row["persona"]].corrections.append(_correction(row))
    return [one for one in people.values() if not half or halves.get(one.name) == half]


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        yield from (json.loads(line) for line in lines if line.strip())
    except (OSError, ValueError) as error:
        raise UnreadablePeople(f"{file}: {error}") from error


def _utterance(row: Mapping[str, Any]) -> Utterance:
    day = datetime.fromisoformat(row["day"]).replace(hour=_EVENING_HOUR, tzinfo=UTC)
    return Utterance(
        session=row["session"],
        at=day.timestamp() + row["n"] * _MINUTE_S,
        role=row["role"],
        speaker=row.get("speaker", ""),
        text=row["text"],
        labels=tuple(_label(label) for label in row["labels"]),
        nothing=bool(row["nothing"]),
    )


def _label(row: Mapping[str, Any]) -> Label:
    dates = [[date] for date in row.get("dates", ())]
    words = word_groups(row.get("all_of", [])) or word_groups(dates)
    return Label(row["kind"], row.get("cat", ""), words, _lowered(row.get("unless", ())))


def _correction(row: Mapping[str, Any]) -> Correction:
    return Correction(
        what=row["what"],
        question=row["question"],
        old=word_groups(row["old"]),
        new=word_groups(row["new"]),
        unless=_lowered(row.get("unless", ())),
    )


def word_groups(groups: list[list[str]]) -> WordGroups:
    """Return groups of words in lower case."""
    return tuple(_lowered(group) for group in groups)


def _lowered(words: Any) -> tuple[str, ...]:
    return tuple(str(word).lower() for word in words)
