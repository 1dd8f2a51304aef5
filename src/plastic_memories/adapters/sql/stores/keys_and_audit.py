"""Keys, sessions of the console and audit log in an SQL database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.rows import user_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.model.console import ConsoleSession, Person, SessionKind
from plastic_memories.model.event import Event
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.model.owner import User


class SqlKeyStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, key: ApiKey) -> ApiKey:
        params = {
            "digest": key.digest,
            "tenant_id": key.tenant_id,
            "user_id": key.user_id,
            "label": key.label,
            "limits": to_json(asdict(key.limits)),
            "created_at": key.created_at,
        }
        return replace(key, id=self._session.insert("add_key", params))

    def find_by_digest(self, digest: str) -> ApiKey | None:
        row = self._session.fetch_one("key_by_digest", {"digest": digest})
        return _key(row) if row else None

    def all(self) -> list[ApiKey]:
        return [_key(row) for row in self._session.fetch("all_keys")]

    def revoke(self, key_id: int, now: float) -> bool:
        return self._session.execute("revoke_key", {"id": key_id, "now": now}) > 0

    def mark_used(self, digest: str, now: float) -> None:
        self._session.execute("mark_key_used", {"digest": digest, "now": now})


class SqlConsoleSessionStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, session: ConsoleSession) -> None:
        params = {
            **user_params(session.user),
            "digest": session.digest,
            "kind": session.kind.value,
            "key_digest": session.key_digest,
            "is_admin": int(session.is_admin),
            "created_at": session.created_at,
            "expires_at": session.expires_at,
        }
        self._session.execute("add_console_session", params)

    def find(self, digest: str, kind: SessionKind, now: float) -> ConsoleSession | None:
        params = {"digest": digest, "kind": kind.value, "now": now}
        row = self._session.fetch_one("find_console_session", params)
        return _console_session(row) if row else None

    def remove(self, digest: str) -> bool:
        return self._session.execute("remove_console_session", {"digest": digest}) > 0

    def remove_of_key(self, key_digest: str) -> int:
        params = {"key_digest": key_digest}
        return self._session.execute("remove_console_sessions_of_key", params)

    def remove_expired(self, now: float) -> int:
        return self._session.execute("remove_expired_console_sessions", {"now": now})

    def find_people(
        self, tenant_id: str, user_id: str | None, text: str, limit: int
    ) -> list[Person]:
        params = {"tenant_id": tenant_id, "user_id": user_id, "text": text.lower(), "limit": limit}
        return [
            Person(
                user_id=row["user_id"],
                name=row["name"] or "",
                apps=tuple(sorted(filter(None, (row["apps"] or "").split(",")))),
                memories=row["memories"],
                last_seen_at=row["last_seen_at"],
            )
            for row in self._session.fetch("find_people", params)
        ]


class SqlAuditLog:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._recorded: list[Event] = []

    def record(self, events: Sequence[Event]) -> list[Event]:
        ids = self._session.insert_many("record_event", map(_event_params, events))
        recorded = [replace(event, id=row) for row, event in zip(ids, events, strict=True)]
        self._recorded += recorded
        return recorded

    @property
    def recorded_events(self) -> Sequence[Event]:
        return tuple(self._recorded)

    def find(
        self,
        user: User,
        *,
        after_id: int = 0,
        since: float = 0.0,
        memory_id: int | None = None,
        only_app: str = "",
        limit: int = 200,
    ) -> list[Event]:
        params = {
            **user_params(user),
            "after_id": after_id,
            "since": since,
            "memory_id": memory_id,
            "only_app": only_app,
            "limit": limit,
        }
        name = "find_events" if memory_id is None else "find_events_of"
        return [event_of(row) for row in self._session.fetch(name, params)]


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        digest=row["digest"],
        tenant_id=row["tenant_id"],
        user_id=row["user_id"],
        label=row["label"],
        limits=KeyLimits(**json.loads(row["limits"])),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
    )


def _console_session(row: Row) -> ConsoleSession:
    return ConsoleSession(
        digest=row["digest"],
        kind=SessionKind(row["kind"]),
        user=User(row["tenant_id"], row["user_id"]),
        key_digest=row["key_digest"],
        is_admin=bool(row["is_admin"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
    )


def _event_params(event: Event) -> dict[str, Any]:
    return {
        **user_params(event.user),
        "persona_id": event.persona_id,
        "event": event.event,
        "memory_id": event.memory_id,
        "key_label": event.key_label,
        "request_id": event.request_id,
        "ts": event.ts,
        "data": to_json(event.data),
    }


def event_of(row: Row) -> Event:
    return Event(
        id=row["id"],
        user=User(row["tenant_id"], row["user_id"]),
        persona_id=row["persona_id"],
        event=row["event"],
        memory_id=row["memory_id"],
        key_label=row["key_label"],
        request_id=row["request_id"],
        ts=row["ts"],
        data=json.loads(row["data"]),
    )
