"""Hide new sentences that tell what must never be learned again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from plastic_memories.hub.memories.write import has_tombstone
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Span, hide_spans
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter


def hide_covered_talk(
    stores: Stores, owner: Owner, drafts: Sequence[Draft], now: float
) -> Sequence[int]:
    """Hide the quotes of drafts that a tombstone covers; return the ids of changed messages.

    Such an utterance is stored and not recalled.
    """
    if not drafts or not stores.tombstones.has_any(owner):
        return ()
    quotes: defaultdict[int, set[str]] = defaultdict(set)
    for draft in drafts:
        if has_tombstone(stores, owner, draft):
            for message_id in draft.source_message_ids:
                quotes[message_id].add(draft.quote or draft.content)
    if not quotes:
        return ()
    rows = stores.messages.find(owner, MessageFilter(ids=quotes, hidden=False))
    hidden = [hide_spans(row, _places(row.content, quotes[row.id]), now) for row in rows]
    stores.messages.set_visibility(hidden)
    return [row.id for row in hidden]


def _places(content: str, quotes: set[str]) -> list[Span]:
    """Return where the quotes stand in a text."""
    found = ((content.find(quote), len(quote)) for quote in quotes if quote)
    return [(start, start + length) for start, length in found if start >= 0]
