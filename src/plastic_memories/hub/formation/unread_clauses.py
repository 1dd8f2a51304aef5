"""Keep what users state and no rule reads, if the gate finds that it lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.language.gate.gated_drafts import (
    UnreadStatement,
    decide_statement,
    unread_draft,
    unread_statements,
)
from plastic_memories.language.gate.heads import Floats, trained_heads
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message

# Loading the default embedder takes a second; a first start on a slow disk some more.
_LOAD_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class UnreadClauses:
    """Makes drafts of unread clauses; by their vectors too if the embedder is the gate's."""

    embedding: EmbeddingService | None = None

    async def drafts(
        self, talk: Sequence[Message], found: Sequence[Draft], time_zone: str
    ) -> list[Draft]:
        """Return drafts of what no rule reads in these messages; `found` is what was read."""
        statements = await asyncio.to_thread(_unread_in, talk, found, time_zone)
        if not statements:
            return []
        vectors = await self._vectors([one.text for one in statements])
        return await asyncio.to_thread(_gated_drafts, statements, vectors)

    async def _vectors(self, texts: Sequence[str]) -> Floats | None:
        if self.embedding is None:
            return None
        # It waits while the model loads: what is kept must not depend on when a message came.
        return await self.embedding.passage_vectors(
            texts, trained_heads().embedder_model, _LOAD_TIMEOUT_S
        )


def _unread_in(
    talk: Sequence[Message], found: Sequence[Draft], time_zone: str
) -> list[UnreadStatement]:
    # Imported lazily, as by the judge: a hub should answer before its grammar is compiled.
    from plastic_memories.language.reading.extraction import read_window  # noqa: PLC0415

    quotes = {(source, draft.quote) for draft in found for source in draft.source_message_ids}
    return [
        statement
        for statement in unread_statements(read_window(talk, time_zone))
        if (statement.message.id, statement.text) not in quotes
    ]


def _gated_drafts(statements: Sequence[UnreadStatement], vectors: Floats | None) -> list[Draft]:
    heads = trained_heads()
    assessed = heads.assess_all([one.text for one in statements], vectors)
    decided = [
        decide_statement(statement, assessment, by_both_heads=vectors is not None)
        for statement, assessment in zip(statements, assessed, strict=True)
    ]
    drafts = {
        draft.key: draft
        for statement, decision in zip(statements, decided, strict=True)
        if decision is not None
        for draft in [unread_draft(statement, decision)]
    }
    return list(drafts.values())
