"""What both clients do with whole conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .calls import Calls
from .models import Branch, Job, Record, Result
from .options import Realm
from .protocol import Call

T = TypeVar("T")


class SessionMethods:
    _calls: Calls

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def branch(
        self,
        from_message_id: int | None = None,
        *,
        from_client_msg_id: str | None = None,
        branch_id: str | None = None,
        session_id: str | None = None,
        persona_id: str | None = None,
    ) -> Branch:
        """Let a conversation go on from an earlier message.

        With a `branch_id` of your own, asking twice makes one branch.
        """
        return self._send(
            self._calls.branch(
                from_message_id, from_client_msg_id, branch_id, session_id, persona_id
            )
        )

    def session_end(self, session_id: str | None = None, *, persona_id: str | None = None) -> Job:
        """End a conversation; the job digests it."""
        return self._send(self._calls.session_end(session_id, persona_id))

    def session_delete(
        self,
        session_id: str,
        *,
        keep_branches: Sequence[str] | None = None,
        persona_id: str | None = None,
    ) -> Result:
        """Delete a conversation, and what only it supported; some branches may stay."""
        return self._send(self._calls.session_delete(session_id, keep_branches, persona_id))

    def session_update(
        self, realm: Realm, *, session_id: str | None = None, persona_id: str | None = None
    ) -> Record:
        """Say whether a conversation is real or a story."""
        return self._send(self._calls.session_update(realm, session_id, persona_id))


class AsyncSessionMethods:
    _calls: Calls

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def branch(
        self,
        from_message_id: int | None = None,
        *,
        from_client_msg_id: str | None = None,
        branch_id: str | None = None,
        session_id: str | None = None,
        persona_id: str | None = None,
    ) -> Branch:
        """Let a conversation go on from an earlier message.

        With a `branch_id` of your own, asking twice makes one branch.
        """
        return await self._send(
            self._calls.branch(
                from_message_id, from_client_msg_id, branch_id, session_id, persona_id
            )
        )

    async def session_end(
        self, session_id: str | None = None, *, persona_id: str | None = None
    ) -> Job:
        """End a conversation; the job digests it."""
        return await self._send(self._calls.session_end(session_id, persona_id))

    async def session_delete(
        self,
        session_id: str,
        *,
        keep_branches: Sequence[str] | None = None,
        persona_id: str | None = None,
    ) -> Result:
        """Delete a conversation, and what only it supported; some branches may stay."""
        return await self._send(self._calls.session_delete(session_id, keep_branches, persona_id))

    async def session_update(
        self, realm: Realm, *, session_id: str | None = None, persona_id: str | None = None
    ) -> Record:
        """Say whether a conversation is real or a story."""
        return await self._send(self._calls.session_update(realm, session_id, persona_id))
