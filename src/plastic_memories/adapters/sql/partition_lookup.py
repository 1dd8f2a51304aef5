"""Where the rows of an owner stand in the text index."""

from __future__ import annotations

from plastic_memories.adapters.sql.rows import owner_params, user_params
from plastic_memories.adapters.sql.sql_session import Params, SqlSession
from plastic_memories.adapters.sql.text_index import TextPartition
from plastic_memories.model.owner import Owner, User


class PartitionLookup:
    """The partitions of owners; what one transaction was told, it knows."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._known: dict[Owner | User, TextPartition] = {}

    def of_persona(self, owner: Owner) -> TextPartition | None:
        """Return the partition of what one persona knows; None if there is no such persona."""
        return self._known.get(owner) or self._lookup(
            "p", "get_persona", owner, owner_params(owner)
        )

    def of_user(self, user: User) -> TextPartition | None:
        """Return the partition of what all personas of a user share."""
        return self._known.get(user) or self._lookup("g", "get_user", user, user_params(user))

    def clear_cache(self) -> None:
        """Ask anew: a persona is gone."""
        self._known.clear()

    def _lookup(
        self, kind: str, query: str, whose: Owner | User, params: Params
    ) -> TextPartition | None:
        row = self._session.fetch_one(query, params)
        if row is not None:
            user = whose.user if isinstance(whose, Owner) else whose
            self._known[whose] = TextPartition(user, f"{kind}{row['id']}")
        return self._known.get(whose)
