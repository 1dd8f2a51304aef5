"""Conversations, their sessions with digest progress, and their branches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, Realm


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation of a message. Two apps or two bots make two conversations."""

    owner: Owner
    session_id: str = ""
    bot_id: str = ""
    source_app: str = ""
    branch_id: str = ""


def conversation_of(message: Message) -> Conversation:
    return Conversation(
        message.owner, message.session_id, message.bot_id, message.source_app, message.branch_id
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The digest state of a conversation on one branch."""

    id: int
    place: Conversation
    last_active: float
    realm: Realm | None = None  # set explicitly for the whole session
    watermark: int = 0  # id of the last digested message
    waiting: int = 0  # messages after the watermark
    rounds: int = 0  # user messages among them
    waiting_since: float | None = None
    ended_at: float | None = None
    archive_path: str = ""
    archived_upto: int = 0

    @property
    def owner(self) -> Owner:
        return self.place.owner


def merge_sessions(one: Session, other: Session) -> Session:
    """Return two sessions merged into one; whatever waits in either still has to be digested."""
    waiting = [session for session in (one, other) if session.waiting]
    since = [session.waiting_since for session in waiting if session.waiting_since is not None]
    marks = [session.watermark for session in waiting]
    return replace(
        one,
        watermark=min(marks) if marks else max(one.watermark, other.watermark),
        waiting=one.waiting + other.waiting,
        rounds=one.rounds + other.rounds,
        waiting_since=min(since, default=None),
        last_active=max(one.last_active, other.last_active),
        ended_at=None if waiting else one.ended_at,
        archived_upto=min(one.archived_upto, other.archived_upto),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A fork at a message: later messages of the parent are not part of this branch."""

    owner: Owner
    session_id: str
    branch_id: str
    parent_id: str
    from_message_id: int
    created_at: float


@dataclass(frozen=True, slots=True)
class BotSessionAddress:
    """The rows of a bot ('' for none), in one session or (None) in all of them.

    With a message type, messages of another type in a session of that name are not meant.
    """

    bot_id: str
    session_id: str | None = None
    platform: str = ""
    message_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RekeyCounts:
    """How many rows were moved, or would be, and of how many users."""

    users: int = 0
    memories: int = 0
    waiting: int = 0  # of them: something else holds at the new place, so they wait for a yes
    messages: int = 0
    sessions: int = 0

    def __add__(self, other: RekeyCounts) -> RekeyCounts:
        return RekeyCounts(
            users=self.users + other.users,
            memories=self.memories + other.memories,
            waiting=self.waiting + other.waiting,
            messages=self.messages + other.messages,
            sessions=self.sessions + other.sessions,
        )
