"""Addresses and counts for moving rows to another bot or session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotSessionAddress:
    """The rows of a bot ('' for none), in one session or (None) in all sessions."""

    bot_id: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RekeyCounts:
    """Number of rows that were moved, or would be in a dry run."""

    memories: int = 0
    waiting: int = 0  # of these: await confirmation, because the target has another active row
    messages: int = 0
    sessions: int = 0

    def __add__(self, other: RekeyCounts) -> RekeyCounts:
        return RekeyCounts(
            memories=self.memories + other.memories,
            waiting=self.waiting + other.waiting,
            messages=self.messages + other.messages,
            sessions=self.sessions + other.sessions,
        )
