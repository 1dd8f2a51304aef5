"""Leave out of summaries what no longer holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from plastic_memories.hub.memories.write import write_in_transaction
from plastic_memories.hub.transactions.audit_events import record_memory
from plastic_memories.language.corrections.matching import has_clause_like
from plastic_memories.language.reading.summary_sentences import quotes_any, without_sentences
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, Status, base_fields
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.transitions import end_memory


@dataclass(frozen=True, slots=True)
class EndedStatements:
    """Memories that ended, and clauses of messages that were corrected."""

    memories: Sequence[Memory] = ()
    message_ids: Collection[int] = ()
    clauses: Sequence[str] = ()

    @property
    def told_in(self) -> set[int]:
        """Return the messages in which any of it was told."""
        sources = (one for row in self.memories for one in row.source_message_ids)
        return {*self.message_ids, *sources}


def trim_summaries(
    stores: Stores, caller: Caller, owner: Owner, ended: EndedStatements, now: float
) -> None:
    """Write the summaries of the same messages anew, without the sentences that tell it.

    Only the words of a memory are compared: its value alone may be in another statement.
    """
    if not ended.told_in:
        return
    words = [
        Draft(type=row.type, key=row.key, content=row.content, quote=row.quote)
        for row in ended.memories
    ]
    wanted = MemoryFilter(
        statuses={Status.ACTIVE}, types={MemoryType.SUMMARY}, source_message_ids=ended.told_in
    )
    for row in stores.memories.find(owner, wanted):
        text = without_sentences(
            row.content, lambda one: quotes_any(one, words) or has_clause_like(one, ended.clauses)
        )
        if text != row.content:
            _replace_summary(stores, caller, row, text, now)


def _replace_summary(stores: Stores, caller: Caller, row: Memory, text: str, now: float) -> None:
    if text:
        draft = replace(
            Draft(**base_fields(row)), content=text, supersedes_id=None, idempotency_key=""
        )
        write_in_transaction(stores, caller, row.owner, draft, now, learned=True)
        return
    ended = end_memory(row, now)
    stores.memories.save(ended)
    record_memory(stores, caller, "memory.retract", ended, now)
