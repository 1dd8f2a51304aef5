"""Keeps raw messages and their text index, and finds them for a reader."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from plastic_memories.model.entry import Listener
from plastic_memories.model.message import (
    AppendOutcome,
    CorrectedIds,
    Message,
    MessageCorrection,
    TermDocumentCounts,
)
from plastic_memories.model.owner import Owner, Viewpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages of one owner: None means "any". Ordered newest first."""

    ids: Collection[int] | None = None
    session_id: str | None = None
    source_app: str | None = None
    bot_id: str | None = None
    since_ts: float | None = None
    until_ts: float | None = None
    before_id: int | None = None
    hidden: bool | None = None
    client_msg_id: str | None = None
    limit: int | None = None


class MessageStore(Protocol):
    """One transaction's view of the messages. No method touches another owner's row.

    It has more methods than most ports: a message is hidden as a whole, or sentence by sentence,
    and the last two are the server's own work after an upgrade.
    """

    def append(self, messages: Sequence[Message]) -> list[AppendOutcome]:
        """Store messages of one owner; one with a known `client_msg_id` is not stored again."""
        ...

    def find(self, owner: Owner, wanted: MessageFilter) -> list[Message]:
        """Return the owner's messages that match, newest first, as they were stored.

        What may be read of one is its `visible_text`.
        """
        ...

    def edit(self, message: Message) -> None:
        """Store the new content of a message of the same owner, and index it.

        Nothing of a new text is hidden.
        """
        ...

    def move(self, message: Message) -> None:
        """Store a message's new bot and session.

        If another has its `client_msg_id` there, both are kept, and this one loses the id.
        """
        ...

    def hide(self, owner: Owner, message_ids: Collection[int], now: float) -> int:
        """Keep messages out of recall, snippets and extraction; return how many."""
        ...

    def set_visibility(self, messages: Sequence[Message]) -> int:
        """Store what is hidden of messages, and index the rest; return how many have changed."""
        ...

    def find_erased(self, owner: Owner, message_ids: Collection[int]) -> set[int]:
        """Return those of the ids whose messages were erased on purpose, not by age."""
        ...

    def record_erased(self, owner: Owner, message_ids: Collection[int], now: float) -> None:
        """Note messages as erased that are no longer here: copies elsewhere must go too."""
        ...

    def erase(self, owner: Owner, wanted: MessageFilter, now: float) -> list[int]:
        """Remove the matching messages and their index entries; return their ids."""
        ...

    def index_older(self, limit: int) -> int:
        """Index the next messages of an older version, newest first; return how many were read.

        The server's own work, over all owners. It goes on where it was interrupted.
        """
        ...

    def count_unindexed(self, tenant_id: str | None = None) -> int:
        """Return how many messages of an older version wait for that, of all tenants for None."""
        ...


class MessageSearch(Protocol):
    """One transaction's view of the messages, as a recall quotes them. Nothing hidden is seen.

    The content of a message that it returns is its visible text.
    """

    def visible(self, view: Viewpoint, message_ids: Collection[int]) -> list[Message]:
        """Return those of these messages that this viewpoint may see, in any order."""
        ...

    def listener(self, view: Viewpoint) -> Listener:
        """Return who hears what is said in the viewpoint's session."""
        ...

    def recent(
        self, view: Viewpoint, since_ts: float, limit: int, until_ts: float = math.inf
    ) -> list[Message]:
        """Return what a recall from this viewpoint may quote, newest first, nothing hidden."""
        ...

    def search(
        self,
        view: Viewpoint,
        terms: Sequence[str],
        limit: int,
        within: tuple[float, float] | None = None,
    ) -> list[Message]:
        """Return messages that hold one of the terms, best first; nothing hidden.

        `within` a time: said from then, up to then.
        """
        ...

    def document_counts(self, owner: Owner, terms: Sequence[str]) -> TermDocumentCounts:
        """Return how many messages a persona has, and how many of them hold each term.

        Both are for weighing words, and large numbers need not be exact. A store may stop
        counting at some thousand that hold a term, and says so (`count_cap`): a term with that
        count is common, however many hold it in truth. It may stop counting messages at ten
        times the cap, and at a hundred times as many as hold any of the terms: no term then
        looks rarer than it is. What is hidden or erased is not counted as holding anything.
        """
        ...

    def neighbours(self, view: Viewpoint, message: Message) -> list[Message]:
        """Return the message before and the one after it in its session; nothing hidden."""
        ...


class CorrectionStore(Protocol):
    """Which messages correct earlier messages, and which memories they have ended.

    What is noted of a corrected message goes with it. What a correcting message has done stays
    until `remove`, so that it can be taken back after the message was erased.
    """

    def add(self, owner: Owner, message_id: int, corrected: CorrectedIds) -> None:
        """Note what a message corrects; what is known already stays."""
        ...

    def find(self, owner: Owner, message_id: int) -> CorrectedIds:
        """Return what a message corrects."""
        ...

    def find_correcting(self, owner: Owner, old_message_ids: Collection[int]) -> set[int]:
        """Return the ids of the messages that correct any of these."""
        ...

    def newest(self, owner: Owner, limit: int) -> list[MessageCorrection]:
        """Return corrected messages with their corrections, newest first; nothing hidden."""
        ...

    def remove(self, owner: Owner, message_ids: Collection[int]) -> set[int]:
        """Remove all corrections by these messages; return the ids of the memories they ended."""
        ...
