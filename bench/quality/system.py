"""A measured system, which stores memories and answers questions, and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from bench.quality.conversations import Conversation, Memory, Question

LIMIT = 20
# The hub's limit for one request; every system gets the same batches.
PORTION = 500


class SystemFailed(Exception):
    """A system could not be started, or stopped answering; the text says why."""


@dataclass(frozen=True)
class CallTime:
    """The seconds of one call, and the embedding time among them."""

    seconds: float
    embedding_seconds: float = 0.0

    @property
    def own_seconds(self) -> float:
        return max(0.0, self.seconds - self.embedding_seconds)


class System(Protocol):
    """A started system."""

    def open(self, conversation: Conversation) -> None:
        """Create a conversation, where the system needs it; not timed."""

    def ingest(self, conversation: Conversation, memories: list[Memory]) -> CallTime:
        """Store memories of one conversation."""

    def wait_until_ready(self) -> float:
        """Wait until everything stored can be found in every way; return the seconds."""

    def embed_questions(self, conversation: Conversation) -> bool:
        """Embed its questions, if the system does that itself; return whether. Not timed."""

    def search(self, conversation: Conversation, question: Question) -> tuple[list[str], CallTime]:
        """Return up to 20 ids of memories, best first."""

    def memory_mb(self) -> float:
        """Return the current resident memory of the system's process."""

    def cpu_seconds(self) -> float:
        """Return the processor time the system's process has used so far."""


@dataclass
class Outcome:
    """The results of one system on a sample."""

    answers: list[list[str]] = field(default_factory=list)
    queries: list[CallTime] = field(default_factory=list)
    ingests: list[tuple[int, CallTime]] = field(default_factory=list)
    settle_seconds: float = 0.0
    filling_seconds: float = 0.0  # from the first write until everything can be found
    questions_cpu_seconds: float = 0.0
    embeds: bool = False
    memory_mb: float = 0.0


def measure(system: System, sample: list[Conversation], advance: Callable[[int], None]) -> Outcome:
    """Store every conversation, wait, then ask every question, in the order of the sample."""
    outcome = Outcome()
    started = time.perf_counter()
    for conversation in sample:
        system.open(conversation)
        for portion in _portions(conversation.memories):
            outcome.ingests.append((len(portion), system.ingest(conversation, portion)))
            advance(len(portion))
    outcome.settle_seconds = system.wait_until_ready()
    outcome.filling_seconds = time.perf_counter() - started
    for conversation in sample:
        outcome.embeds = system.embed_questions(conversation)
        before = system.cpu_seconds()
        for question in conversation.questions:
            ids, took = system.search(conversation, question)
            outcome.answers.append(ids)
            outcome.queries.append(took)
            advance(1)
        outcome.questions_cpu_seconds += system.cpu_seconds() - before
    outcome.memory_mb = system.memory_mb()
    return outcome


def steps(sample: list[Conversation]) -> int:
    """Return the total number of steps that `measure` reports."""
    return sum(len(one.memories) + len(one.questions) for one in sample)


def _portions(memories: tuple[Memory, ...]) -> Iterator[list[Memory]]:
    waiting = iter(memories)
    while portion := list(islice(waiting, PORTION)):
        yield portion
