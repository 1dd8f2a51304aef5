# Generated from async_methods/conversation.py (`make docs`); do not edit.
"""Methods for messages, sessions and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from ..models import AppendResult, Branch, Job, Message, Record, Removed, Result
from ..options import MessageFilter, TalkOptions, Utterances, WhichMessage
from ..wire_options import Realm
from .sender import Sender


class Conversation(Sender):
    def append_messages(self, messages: Utterances, **options: Unpack[TalkOptions]) -> AppendResult:
        """Store one message or many, a hundred at a time.

        If a later batch fails the earlier ones stay stored; messages with a `client_msg_id` may be
        sent again and are stored once.
        """
        calls = self._calls.append_messages(messages, **options)
        return AppendResult.merge([self._send(call) for call in calls])

    def recent_messages(self, **wanted: Unpack[MessageFilter]) -> list[Message]:
        """Return messages, newest first."""
        return self._send(self._calls.recent_messages(**wanted))

    def purge_messages(
        self,
        *,
        before_ts: float | None = None,
        days: float | None = None,
        everything: bool = False,
        session_id: str | None = None,
        persona_id: str | None = None,
        older_than_days: float | None = None,
    ) -> Removed:
        """Erase messages: those before a time, older than some days, or everything.

        `older_than_days` is the older name of `days`.
        """
        days = older_than_days if days is None else days
        return self._send(
            self._calls.purge_messages(before_ts, days, everything, session_id, persona_id)
        )

    def message_edit(self, content: str, **which: Unpack[WhichMessage]) -> Result:
        """Edit a message; memories learned from it are derived again."""
        return self._send(self._calls.message_edit(content, **which))

    def message_replace(self, content: str, **which: Unpack[WhichMessage]) -> Result:
        """Replace a reply with another one (a swipe)."""
        return self._send(self._calls.message_replace(content, **which))

    def message_delete(self, **which: Unpack[WhichMessage]) -> Result:
        """Delete a message, and the memories that only it supported."""
        return self._send(self._calls.message_delete(**which))

    def branch(
        self,
        from_message_id: int | None = None,
        *,
        from_client_msg_id: str | None = None,
        branch_id: str | None = None,
        session_id: str | None = None,
        persona_id: str | None = None,
    ) -> Branch:
        """Start a branch from an earlier message.

        With your own `branch_id`, calling it twice makes one branch.
        """
        return self._send(
            self._calls.branch(
                from_message_id, from_client_msg_id, branch_id, session_id, persona_id
            )
        )

    def session_end(self, session_id: str | None = None, *, persona_id: str | None = None) -> Job:
        """End a session; the job digests it."""
        return self._send(self._calls.session_end(session_id, persona_id))

    def session_delete(
        self,
        session_id: str,
        *,
        keep_branches: Sequence[str] | None = None,
        persona_id: str | None = None,
    ) -> Result:
        """Delete a session, and the memories that only it supported; some branches may stay."""
        return self._send(self._calls.session_delete(session_id, keep_branches, persona_id))

    def session_update(
        self, realm: Realm, *, session_id: str | None = None, persona_id: str | None = None
    ) -> Record:
        """Set whether a session is real or fiction."""
        return self._send(self._calls.session_update(realm, session_id, persona_id))
