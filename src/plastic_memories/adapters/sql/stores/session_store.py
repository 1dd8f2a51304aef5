"""Conversations and their branches in an SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from plastic_memories.adapters.sql.rows import owner_of, owner_params, visible_message_of
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Branch, Conversation, Session, merge_sessions

_SHARED_COLUMNS = (
    "id", "watermark", "waiting", "rounds", "waiting_since", "last_active", "ended_at",
    "archive_path", "archived_upto",
)  # fmt: skip


class SqlSessionStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def record_messages(
        self, place: Conversation, messages: int, rounds: int, now: float
    ) -> Session:
        params = {**_place_params(place), "messages": messages, "rounds": rounds, "now": now}
        if not self._session.execute("heard_again", params):
            self._session.execute("heard_first", params)
        [row] = self._session.fetch("session_at", params)
        return session_of(row)

    def find(
        self,
        owner: Owner,
        *,
        session_id: str | None = None,
        bot_id: str | None = None,
        source_app: str | None = None,
        branch_id: str | None = None,
    ) -> list[Session]:
        params = {
            **owner_params(owner),
            "session_id": session_id,
            "bot_id": bot_id,
            "source_app": source_app,
            "branch_id": branch_id,
        }
        return [session_of(row) for row in self._session.fetch("find_sessions", params)]

    def get(self, owner: Owner, ref: int) -> Session | None:
        row = self._session.fetch_one("get_session", {**owner_params(owner), "id": ref})
        return session_of(row) if row else None

    def save(self, session: Session) -> None:
        same = {name: getattr(session, name) for name in _SHARED_COLUMNS}
        realm = session.realm.value if session.realm else ""
        params = {**owner_params(session.owner), **same, "realm": realm}
        self._session.execute("save_session", params)

    def move(self, session: Session, place: Conversation) -> None:
        params = {**_place_params(place), "id": session.id, "was": session.place.session_id}
        there = self.find(
            place.owner,
            session_id=place.session_id,
            bot_id=place.bot_id,
            source_app=place.source_app,
            branch_id=place.branch_id,
        )
        self._session.execute("move_branches", params)
        if not there:
            self._session.execute("move_session", params)
            return
        params["ref"] = there[0].id
        for name in ("move_jobs", "drop_jobs", "drop_session"):
            self._session.execute(name, params)
        self.save(merge_sessions(there[0], session))

    def realm_of(self, owner: Owner, session_id: str, bot_id: str) -> Realm | None:
        params = {**owner_params(owner), "session_id": session_id, "bot_id": bot_id}
        row = self._session.fetch_one("session_realm", params)
        return Realm(row["realm"]) if row else None

    def messages_after(self, session: Session, message_id: int, limit: int) -> list[Message]:
        params = {**_place_params(session.place), "after": message_id, "limit": limit}
        return [visible_message_of(row) for row in self._session.fetch("messages_after", params)]


class SqlBranchStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, branch: Branch) -> None:
        params = {**owner_params(branch.owner), **asdict(branch)}
        del params["owner"]
        self._session.execute("add_branch", params)

    def all(self, owner: Owner) -> Sequence[Branch]:
        rows = self._session.fetch("all_branches", owner_params(owner))
        return [_branch(owner, row) for row in rows]

    def drop(self, owner: Owner, session_id: str) -> None:
        params = {**owner_params(owner), "session_id": session_id}
        self._session.execute("drop_branches", params)


def session_of(row: Row) -> Session:
    place = Conversation(
        owner_of(row), row["session_id"], row["bot_id"], row["source_app"], row["branch_id"]
    )
    realm = Realm(row["realm"]) if row["realm"] else None
    return Session(place=place, realm=realm, **{name: row[name] for name in _SHARED_COLUMNS})


def _place_params(place: Conversation) -> dict[str, str]:
    return {
        **owner_params(place.owner),
        "session_id": place.session_id,
        "bot_id": place.bot_id,
        "source_app": place.source_app,
        "branch_id": place.branch_id,
    }


def _branch(owner: Owner, row: Row) -> Branch:
    return Branch(
        owner=owner,
        session_id=row["session_id"],
        branch_id=row["branch_id"],
        parent_id=row["parent_id"],
        from_message_id=row["from_message_id"],
        created_at=row["created_at"],
    )
