"""Corrections of quoted talk: what stands beside a quote that was corrected since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plastic_memories.model.entry import Listener
from plastic_memories.model.message import Message, MessageCorrection
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.audience import hears
from plastic_memories.rules.conversation.branch_lines import BranchAncestry
from plastic_memories.rules.conversation.corrected_talk import corrections_by_message

# More than a year of daily talk has; older ones are no longer beside their quotes.
_MAX_CORRECTIONS = 1000


def find_corrections(stores: Stores, query: RecallQuery) -> list[MessageCorrection]:
    """Return the newest corrections of the persona's talk."""
    return stores.corrections.newest(query.viewpoint.owner, _MAX_CORRECTIONS)


def visible_corrections(
    corrections: Sequence[MessageCorrection],
    query: RecallQuery,
    lines: BranchAncestry,
    listener: Listener | None,
) -> Mapping[int, Sequence[Message]]:
    """Return corrected message id → the corrections that this reader may see."""
    view = query.viewpoint

    def may_quote(row: Message) -> bool:
        is_of_bot = view.all_bots or row.bot_id == view.bot_id
        is_of_app = not view.only_app or row.source_app == view.only_app
        is_of_session = not view.only_session or row.session_id == view.session_id
        on_line = lines.includes(row.session_id, row.branch_id, row.id)
        if listener is None or not hears(listener, row):
            return False
        return is_of_bot and is_of_app and is_of_session and row.realm is view.realm and on_line

    return corrections_by_message(corrections, may_quote)
