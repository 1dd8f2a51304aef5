"""LangGraph's InMemoryStore with its index: a namespace for each conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from bench.peers.embedding import DIMENSION, SharedEmbedder


class Peer:
    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        def embed(texts: list[str]) -> list[list[float]]:
            return embedder.encode(texts).tolist()

        self._store = InMemoryStore(index={"dims": DIMENSION, "embed": embed, "fields": ["text"]})

    def open(self, conversation: str) -> None:
        """Do nothing: a namespace is created by its first item."""

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        space = _namespace(conversation)
        for batch in _without_repeats(memories):
            self._store.batch(
                [PutOp(space, memory["id"], {"text": memory["text"]}) for memory in batch]
            )

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        found = self._store.search(_namespace(conversation), query=question, limit=limit)
        return [item.key for item in found]


def _without_repeats(memories: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split into batches: the store refuses a batch with a repeated text."""
    batches: list[list[dict[str, Any]]] = []
    seen: dict[str, int] = {}
    for memory in memories:
        turn = seen[memory["text"]] = seen.get(memory["text"], -1) + 1
        if turn == len(batches):
            batches.append([])
        batches[turn].append(memory)
    return batches


def _namespace(conversation: str) -> tuple[str, ...]:
    # A dot is not allowed in a label.
    return ("memories", conversation.replace(".", "/"))
