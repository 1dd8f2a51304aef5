"""What is known of Markdown pages, in an SQL database."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plastic_memories.adapters.sql.rows import owner_of, owner_params, user_params
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import SyncedFolder

_FIRST_CURSOR = Owner("", "", "")


class SqlPageStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def synced_folders(self, after: Owner | None, limit: int) -> list[SyncedFolder]:
        cursor = after or _FIRST_CURSOR
        params = {
            "after_tenant": cursor.tenant_id,
            "after_user": cursor.user_id,
            "after_persona": cursor.persona_id,
            "limit": limit,
        }
        return [
            SyncedFolder(owner_of(row), row["kept_for"], row["stamp"], row["audit_id"])
            for row in self._session.fetch("kept_page_folders", params)
        ]

    def save_folder(self, kept: SyncedFolder) -> None:
        params = {
            **owner_params(kept.folder),
            "kept_for": kept.target_persona_id,
            "stamp": kept.stamp,
            "audit_id": kept.audit_id,
        }
        self._session.execute("keep_page_folder", params)

    def add_all_folders(self, kept_for: str) -> int:
        personas = self._session.execute("keep_pages_of_personas")
        return personas + self._session.execute("keep_pages_of_users", {"kept_for": kept_for})

    def line_digests(self, folder: Owner) -> Mapping[int, str]:
        rows = self._session.fetch("page_lines", owner_params(folder))
        return {row["root_id"]: row["digest"] for row in rows}

    def save_line_digests(self, folder: Owner, lines: Mapping[int, str]) -> None:
        before = self.line_digests(folder)
        for root in before.keys() - lines.keys():
            params = {**owner_params(folder), "root_id": root}
            self._session.execute("erase_page_line", params)
        for root, digest in lines.items():
            if before.get(root) != digest:
                params = {**owner_params(folder), "root_id": root, "digest": digest}
                self._session.execute("put_page_line", params)

    def last_change_after(self, user: User, audit_id: int) -> int:
        params = {**user_params(user), "after_id": audit_id}
        row = self._session.fetch_one("last_memory_event", params)
        return row["id"] if row else 0

    def muted_lines(self, user: User) -> frozenset[str]:
        rows = self._session.fetch("page_mutes", user_params(user))
        return frozenset(row["digest"] for row in rows)

    def mute_lines(self, user: User, marks: Collection[str], now: float) -> None:
        for digest in marks:
            params = {**user_params(user), "digest": digest, "now": now}
            self._session.execute("mute_page_line", params)
