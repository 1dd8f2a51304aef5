"""Statements of a conversation that the user has forbidden to learn again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from plastic_memories.hub.memories.write import has_tombstone
from plastic_memories.language.reading.summary_sentences import keep_sentences, quotes_any
from plastic_memories.model.formation import Summary
from plastic_memories.model.memory import Draft
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores


@dataclass(frozen=True, slots=True)
class CoveredStatements:
    """What tombstones cover: drafts, and sentences of a summary that state them."""

    drafts: Sequence[Draft] = ()
    sentences: Collection[str] = ()

    def leave_out_of(self, summary: Summary | None) -> Summary | None:
        """Return a summary without these statements; None if nothing else is in it."""
        if summary is None or not (self.drafts or self.sentences):
            return summary
        return keep_sentences(summary, self._may_repeat)

    def _may_repeat(self, text: str) -> bool:
        return text not in self.sentences and not quotes_any(text, self.drafts)


def find_covered_statements(
    stores: Stores,
    owner: Owner,
    drafts: Sequence[Draft],
    by_sentence: Mapping[str, Sequence[Draft]],
) -> CoveredStatements:
    """Return the covered drafts, and the sentences that yield a covered draft."""
    return CoveredStatements(
        [draft for draft in drafts if has_tombstone(stores, owner, draft)],
        {
            sentence
            for sentence, stated in by_sentence.items()
            if any(has_tombstone(stores, owner, draft) for draft in stated)
        },
    )
