"""Calls to /messages and /sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ..models import AppendResult, Branch, Job, Message, Record, Removed, Result
from ..options import MessageFilter, TalkOptions, Utterances, WhichMessage
from ..protocol import Call, get, post, record, records, result, without_none
from ..wire_options import Realm
from .context import CallContext

APPEND_LIMIT = 100


def wire_messages(messages: Utterances) -> list[dict[str, Any]]:
    """Return one message or several in wire format.

    >>> wire_messages(Message(role="user", content="hi"))
    [{'role': 'user', 'content': 'hi'}]
    """
    several = [messages] if isinstance(messages, Message | Mapping) else messages
    return [
        message.to_wire() if isinstance(message, Message) else dict(message) for message in several
    ]


class ConversationCalls(CallContext):
    __slots__ = ()

    def append_messages(
        self, messages: Utterances, **options: Unpack[TalkOptions]
    ) -> list[Call[AppendResult]]:
        """Return one call for each hundred messages, the limit of the hub."""
        place = self.conversation_fields(dict(options))
        persona_id = place.pop("persona_id")
        sent = [place | without_none(**message) for message in wire_messages(messages)]
        return [
            post(
                "/messages/append",
                result(AppendResult),
                {"persona_id": persona_id, "messages": sent[start : start + APPEND_LIMIT]},
            )
            for start in range(0, len(sent), APPEND_LIMIT)
        ]

    def recent_messages(self, **wanted: Unpack[MessageFilter]) -> Call[list[Message]]:
        params = self.persona_fields(None) | without_none(**wanted)
        return get("/messages/recent", records(Message, "messages"), params)

    def purge_messages(
        self,
        before_ts: float | None,
        days: float | None,
        everything: bool,
        session_id: str | None,
        persona_id: str | None,
    ) -> Call[Removed]:
        body = self.persona_fields(
            persona_id,
            before_ts=before_ts,
            days=days,
            all=everything or None,
            session_id=session_id,
        )
        return post("/messages/purge", result(Removed), body)

    def message_edit(self, content: str, **which: Unpack[WhichMessage]) -> Call[Result]:
        return post(
            "/messages/edit", result(Result), self._message_fields({**which, "content": content})
        )

    def message_replace(self, content: str, **which: Unpack[WhichMessage]) -> Call[Result]:
        return post(
            "/messages/replace", result(Result), self._message_fields({**which, "content": content})
        )

    def message_delete(self, **which: Unpack[WhichMessage]) -> Call[Result]:
        return post("/messages/delete", result(Result), self._message_fields(which))

    def branch(
        self,
        from_message_id: int | None,
        from_client_msg_id: str | None,
        branch_id: str | None,
        session_id: str | None,
        persona_id: str | None,
    ) -> Call[Branch]:
        body = self._session_fields(
            session_id,
            persona_id,
            from_message_id=from_message_id,
            from_client_msg_id=from_client_msg_id,
            branch_id=branch_id,
        )
        return post("/messages/branch", result(Branch), body)

    def session_end(self, session_id: str | None, persona_id: str | None) -> Call[Job]:
        return post(
            "/sessions/end", record(Job, "job"), self._session_fields(session_id, persona_id)
        )

    def session_delete(
        self, session_id: str, keep_branches: Sequence[str] | None, persona_id: str | None
    ) -> Call[Result]:
        branches = None if keep_branches is None else list(keep_branches)
        body = self._session_fields(session_id, persona_id, all=True, keep_branches=branches)
        return post("/messages/delete", result(Result), body)

    def session_update(
        self, realm: Realm, session_id: str | None, persona_id: str | None
    ) -> Call[Record]:
        body = self._session_fields(session_id, persona_id, realm=realm)
        return post("/sessions/update", record(Record, "session"), body)

    def _message_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return self.persona_fields(None) | without_none(**fields)

    def _session_fields(
        self, session_id: str | None, persona_id: str | None, **fields: Any
    ) -> dict[str, Any]:
        session_id = session_id or self.session_id
        return self.persona_fields(persona_id, session_id=session_id, **fields)
