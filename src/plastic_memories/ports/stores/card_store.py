"""Keeps the character cards that personas were made from."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.owner import Owner


class CardStore(Protocol):
    """One transaction's view of the cards of a user: one for each persona at most.

    A persona that is erased takes its card with it.
    """

    def get(self, owner: Owner) -> bytes | None:
        """Return the card as it came."""
        ...

    def put(self, owner: Owner, original: bytes, now: float) -> None:
        """Keep a card in the place of the one before."""
        ...

    def drop(self, owner: Owner) -> bool:
        """Forget the card; return whether there was one."""
        ...
