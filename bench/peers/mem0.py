"""mem0: memories stored verbatim (no model), its hybrid search on its default local store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastembed import SparseTextEmbedding
from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from stop_words import get_stop_words

from bench.peers.embedding import DIMENSION, SharedEmbedder


class _Embedding(EmbeddingBase):
    def __init__(self, embedder: SharedEmbedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._embedder.encode([text])[0].tolist()

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return self._embedder.encode(texts).tolist()


class Peer:
    """One store, every conversation a `user_id` in it: as its documentation recommends."""

    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        self._embedding = _Embedding(embedder)
        self._folder = folder
        # By default mem0 downloads its list of stop words from a model hub; without one it would
        # silently lose its keyword search. Here it gets a fixed list, the same on every machine.
        self._keywords = SparseTextEmbedding(
            "Qdrant/bm25",
            specific_model_path=str(folder),
            stopwords=set(get_stop_words("en")),
        )
        self._stores: dict[str, Memory] = {}

    def open(self, conversation: str) -> None:
        name = self.store_name(conversation)
        if name not in self._stores:
            self._stores[name] = self._made(self._folder / str(len(self._stores)))

    def store_name(self, conversation: str) -> str:
        """Return the name of the store for a conversation."""
        return "all"

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        store = self._stores[self.store_name(conversation)]
        for memory in memories:
            store.add(
                memory["text"],
                user_id=conversation,
                metadata={"key": memory["id"]},
                infer=False,
            )

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        store = self._stores[self.store_name(conversation)]
        found = store.search(question, top_k=limit, filters={"user_id": conversation})
        return [row["metadata"]["key"] for row in found["results"]]

    def _made(self, folder: Path) -> Memory:
        folder.mkdir()
        store = {
            "collection_name": "bench",
            "embedding_model_dims": DIMENSION,
            "path": str(folder / "qdrant"),
            "on_disk": True,
        }
        memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )
        memory.embedding_model = self._embedding
        memory.vector_store._bm25_encoder = self._keywords  # noqa: SLF001 - there is no other way
        return memory
