"""Where rows stand that are given another bot or session, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotSessionAddress:
    """The rows of a bot ('' for none), in one session or (None) in all of them."""

    bot_id: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RekeyCounts:
    """How many rows were moved, or would be."""

    memories: int = 0
    waiting: int = 0  # of them: something else holds at the new place, so they wait for a yes
    messages: int = 0
    sessions: int = 0

    def __add__(self, other: RekeyCounts) -> RekeyCounts:
        return RekeyCounts(
            memories=self.memories + other.memories,
            waiting=self.waiting + other.waiting,
            messages=self.messages + other.messages,
            sessions=self.sessions + other.sessions,
        )
