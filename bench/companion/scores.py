"""Scores of CompanionBench: facts learned, rows right, needed lines, corrections."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.companion.companion import Companion, PromptText, StoredRow
from bench.companion.people import Correction, Label, Person, holds

ALWAYS_KNOWN = frozenset(
    {"name", "allergy", "medication", "diet", "taboo", "style", "birthday", "pronouns"}
)
_DAY_S = 86_400.0
NEXT_EVENING_S = _DAY_S
MONTH_S = 30 * _DAY_S


@dataclass
class Share:
    """How many of how many."""

    hits: int = 0
    total: int = 0
    misses: list[str] = field(default_factory=list)

    def count(self, hit: bool, what: str = "") -> None:
        self.hits += hit
        self.total += 1
        if not hit:
            self.misses.append(what)

    def as_json(self) -> dict[str, Any]:
        share = round(self.hits / self.total, 3) if self.total else None
        return {"hits": self.hits, "of": self.total, "share": share, "misses": self.misses}


@dataclass
class Scores:
    """The scores of one system over some people."""

    shares: dict[str, Share] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)

    def count(self, name: str, hit: bool, what: str = "") -> None:
        self.shares.setdefault(name, Share()).count(hit, what)

    def as_json(self) -> dict[str, Any]:
        found = {name: share.as_json() for name, share in self.shares.items()}
        return {"shares": found, "median_tokens": median(self.tokens or [0])}


def score_rows(scores: Scores, person: Person, rows: list[StoredRow]) -> None:
    """Count which labelled facts are kept, and which rows and notes are right."""
    for label in person.labels("keep"):
        is_kept = any(label.is_in(row.text) for row in rows)
        about = f"{person.name} {label.category} {label.words}"
        scores.count("facts kept", is_kept, about)
        if label.category in ALWAYS_KNOWN:
            by_claim = any(label.is_in(row.text) for row in rows if row.is_claim)
            scores.count("always known", by_claim, about)
    for label in person.labels("forbid"):
        is_claimed = any(label.is_in(row.text) for row in rows if row.is_claim)
        scores.count("traps avoided", not is_claimed, f"{person.name} {label.words}")
    right = [*person.labels("keep"), *person.labels("ok")]
    for row in rows:
        name = "claims right" if row.is_claim else "notes worth keeping"
        scores.count(name, _is_right(row, person, right), f"{person.name} {row.text}")


def _is_right(row: StoredRow, person: Person, right: Iterable[Label]) -> bool:
    """Return whether a row tells something labelled, and nothing forbidden."""
    if row.is_claim and any(label.is_in(row.text) for label in person.labels("forbid")):
        return False
    return any(label.is_in(row.text) for label in right)


def score_questions(
    scores: Scores, name: str, person: Person, ask: Callable[[str], PromptText]
) -> None:
    """Count the questions for which one line of the prompt holds what is needed."""
    for question in person.questions:
        prompt = ask(question.text)
        scores.tokens.append(prompt.tokens)
        is_there = any(holds(line, question.need) for line in prompt.lines)
        scores.count(name, is_there, f"{person.name} {question.text} {question.need}")


def score_corrections(
    scores: Scores, person: Person, rows: list[StoredRow], ask: Callable[[str], PromptText]
) -> None:
    """Count the corrections after which the old value is gone and the new one is told."""
    for check in person.corrections:
        prompt = ask(check.question)
        about = f"{person.name} {check.what}"
        _score_correction(scores, check, rows, prompt, about)


def _score_correction(
    scores: Scores, check: Correction, rows: list[StoredRow], prompt: PromptText, about: str
) -> None:
    active = [row for row in rows if row.is_active and row.is_claim and check.tells_old(row.text)]
    told = [one for one in prompt.lines if one not in prompt.quoted and check.tells_old(one)]
    is_new_told = any(holds(line, check.new) for line in prompt.lines)
    is_old_quoted = any(check.tells_old(line) for line in prompt.quoted)
    if rows:
        scores.count("old value inactive", not active, about)
        scores.count("old value not told", not told, about)
    scores.count("old not quoted without new", is_new_told or not is_old_quoted, about)
    scores.count("new value told", is_new_told, about)


def asker(companion: Companion, person: Person, now: float) -> Callable[[str], PromptText]:
    """Return a function that asks a question as this person, at a time."""
    return lambda question: companion.prompt(person.name, question, now)
