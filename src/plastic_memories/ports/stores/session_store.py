"""Keeps conversations and their branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Branch, Conversation, Session


class SessionStore(Protocol):
    """One transaction's view of the sessions. No method touches another owner's."""

    def record_messages(
        self, place: Conversation, messages: int, rounds: int, now: float
    ) -> Session:
        """Note that so many messages came, so many of them the user's; return the session."""
        ...

    def find(
        self,
        owner: Owner,
        *,
        session_id: str | None = None,
        bot_id: str | None = None,
        source_app: str | None = None,
        branch_id: str | None = None,
    ) -> list[Session]:
        """Return the owner's sessions that match, the last active first."""
        ...

    def get(self, owner: Owner, ref: int) -> Session | None: ...

    def save(self, session: Session) -> None: ...

    def move(self, session: Session, place: Conversation) -> None:
        """Give a session another place of the same owner; one that is there takes it in.

        What waited in either of the two still waits.
        """
        ...

    def realm_of(self, owner: Owner, session_id: str, bot_id: str) -> Realm | None:
        """Return the realm somebody has set for a session, in whichever app."""
        ...

    def messages_after(self, session: Session, message_id: int, limit: int) -> list[Message]:
        """Return the session's messages after one, oldest first, nothing hidden."""
        ...


class BranchStore(Protocol):
    """One transaction's view of how sessions branched. No method touches another owner's."""

    def add(self, branch: Branch) -> None: ...

    def all(self, owner: Owner) -> Sequence[Branch]:
        """Return the owner's branches, the oldest first; most have none."""
        ...

    def drop(self, owner: Owner, session_id: str) -> None:
        """Forget how a session branched: nothing of it is left."""
        ...
