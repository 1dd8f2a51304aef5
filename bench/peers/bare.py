"""The embedder alone: the cost of embedding for any system."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bench.peers.embedding import SharedEmbedder


class Peer:
    """No system at all; its one command embeds everything once and stores the vectors."""

    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        self._embedder = embedder
        embedder.model.encode(["warm up", "热身"])

    def measure(self, texts: list[str], questions: list[str]) -> dict[str, Any]:
        """Embed texts in batches and questions one by one."""
        started = time.perf_counter()
        vectors = self._embedder.embed(texts)
        batches = time.perf_counter() - started
        self._embedder.store(texts, vectors)
        singly = []
        for question in questions:
            started = time.perf_counter()
            self._embedder.model.encode([question])
            singly.append(time.perf_counter() - started)
        self._embedder.encode(questions)
        return {
            "texts_seconds": batches,
            "question_seconds": singly,
        }
