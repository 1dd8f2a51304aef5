"""Chroma: a collection for each conversation, on disk, cosine distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from bench.peers.embedding import SharedEmbedder


class _Embedding(chromadb.EmbeddingFunction):
    def __init__(self, embedder: SharedEmbedder) -> None:
        self._embedder = embedder

    def __call__(self, input: list[str]) -> Any:  # noqa: A002 - chroma's name
        return list(self._embedder.encode(input))


class Peer:
    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        settings = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings)
        self._embedding = _Embedding(embedder)
        self._collections: dict[str, Any] = {}

    def open(self, conversation: str) -> None:
        self._collections[conversation] = self._client.create_collection(
            f"c{len(self._collections):04}",
            embedding_function=self._embedding,
            configuration={"hnsw": {"space": "cosine"}},
        )

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        self._collections[conversation].add(
            ids=[memory["id"] for memory in memories],
            documents=[memory["text"] for memory in memories],
        )

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        found = self._collections[conversation].query(query_texts=[question], n_results=limit)
        return list(found["ids"][0])
