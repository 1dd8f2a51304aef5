"""txtai: hybrid search (dense and bm25), an index for each conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from txtai import Embeddings

from bench.peers.embedding import SharedEmbedder


class Peer:
    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        def transform(texts: list[str]) -> Any:
            return embedder.encode(texts)

        self._settings = {"method": "external", "transform": transform, "hybrid": True}
        self._indexes: dict[str, Embeddings] = {}

    def open(self, conversation: str) -> None:
        self._indexes[conversation] = Embeddings(dict(self._settings))

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        rows = [(memory["id"], memory["text"]) for memory in memories]
        self._indexes[conversation].upsert(rows)

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        return [found for found, _ in self._indexes[conversation].search(question, limit)]
