"""Other systems as companions: the raw history, and memory libraries that search messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bench.companion.companion import Companion, PromptText, StoredRow
from bench.companion.people import Utterance
from bench.quality.conversations import Conversation, Memory, Question
from bench.quality.environments import Environments
from bench.quality.peer import running_peer
from bench.quality.system import CallTime
from plastic_memories.language.text.token_count import estimate_tokens

# The hub's default budget: every system gets as much of the prompt.
_BUDGET_TOKENS = 1_000
RAW_HISTORY = "raw-history"


class SearchSystem(Protocol):
    """What is used of a peer."""

    def open(self, conversation: Conversation) -> None: ...
    def ingest(self, conversation: Conversation, memories: list[Memory]) -> CallTime: ...
    def search(
        self, conversation: Conversation, question: Question
    ) -> tuple[list[str], CallTime]: ...


@dataclass
class RawHistory:
    """No memory at all: the latest messages, as many as fit."""

    talk: dict[str, list[Utterance]] = field(default_factory=dict)

    def listen(self, person: str, talk: Sequence[Utterance]) -> None:
        self.talk.setdefault(person, []).extend(talk)

    def finish(self, person: str) -> None:
        """Do nothing: there is nothing to learn."""

    def rows(self, person: str) -> list[StoredRow]:
        return []

    def prompt(self, person: str, question: str, now: float) -> PromptText:
        return _within_budget([one.text for one in reversed(self.talk[person])])


@dataclass
class MessageSearch:
    """A library that stores every message and finds those that resemble the question."""

    peer: SearchSystem
    talk: dict[str, list[Utterance]] = field(default_factory=dict)

    def listen(self, person: str, talk: Sequence[Utterance]) -> None:
        if person not in self.talk:
            self.peer.open(_conversation(person))
        known = self.talk.setdefault(person, [])
        memories = [
            Memory(str(number), one.text, one.session, one.speaker or None, one.at)
            for number, one in enumerate(talk, start=len(known))
        ]
        known.extend(talk)
        self.peer.ingest(_conversation(person), memories)

    def finish(self, person: str) -> None:
        """Do nothing: a message can be found as soon as it is stored."""

    def rows(self, person: str) -> list[StoredRow]:
        return []

    def prompt(self, person: str, question: str, now: float) -> PromptText:
        asked = Question("", question, "", ())
        ids, _ = self.peer.search(_conversation(person), asked)
        return _within_budget([self.talk[person][int(number)].text for number in ids])


@contextmanager
def running_system(name: str, environments: Environments) -> Iterator[Companion]:
    """Run another system than the hub."""
    if name == RAW_HISTORY:
        yield RawHistory()
        return
    with running_peer(environments, name) as peer:
        yield MessageSearch(peer)


def _conversation(person: str) -> Conversation:
    return Conversation("companion", person, (), ())


def _within_budget(texts: Sequence[str]) -> PromptText:
    lines: list[str] = []
    tokens = 0
    for text in texts:
        size = estimate_tokens(text)
        if tokens + size > _BUDGET_TOKENS:
            break
        tokens += size
        lines.append(text)
    return PromptText(tuple(lines), tuple(lines), tokens)
