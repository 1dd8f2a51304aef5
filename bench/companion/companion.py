"""A measured companion: it listens, and writes the memory part of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.companion.people import Utterance


@dataclass(frozen=True)
class StoredRow:
    """Something a companion keeps of a person; a claim states a fact, a note only quotes."""

    text: str
    is_active: bool = True
    is_claim: bool = True
    source_texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptText:
    """The text that a companion puts into the prompt, and its size."""

    lines: tuple[str, ...]
    quoted: tuple[str, ...]  # those of the lines that only quote what was said
    tokens: int


class Companion(Protocol):
    """A started system."""

    def listen(self, person: str, talk: Sequence[Utterance]) -> None:
        """Take in messages of one person, in chronological order."""

    def finish(self, person: str) -> None:
        """End the conversations and wait until everything is learned."""

    def rows(self, person: str) -> list[StoredRow]:
        """Return what is kept of a person."""

    def prompt(self, person: str, question: str, now: float) -> PromptText:
        """Return the memory part of the prompt for a message of this person."""
