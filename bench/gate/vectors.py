"""Vectors of many texts, kept in a file between runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.embedding.wheel import DEFAULT_MODEL, MODELS
from plastic_memories.ports.embedder import Embedder

_BATCH = 64


class VectorCache:
    """Embeds texts with the default model, one thread; each text once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._embedder: Embedder | None = None
        self._by_text: dict[str, NDArray[np.float32]] = {}
        if file.exists():
            with np.load(file, allow_pickle=False) as stored:
                texts = stored["texts"].tobytes().decode().split("\x1e")
                self._by_text = dict(zip(texts, stored["rows"], strict=True))

    @property
    def model(self) -> str:
        return MODELS[DEFAULT_MODEL].model

    def embed(self, texts: Iterable[str]) -> None:
        """Embed the texts that are not known yet, and store all of them."""
        new = [text for text in dict.fromkeys(texts) if text not in self._by_text]
        if not new:
            return
        if self._embedder is None:
            self._embedder = MODELS[DEFAULT_MODEL].load(1)
        by_length = sorted(new, key=len)
        for start in range(0, len(by_length), _BATCH):
            batch = by_length[start : start + _BATCH]
            rows = self._embedder.embed(batch, purpose="passage")
            self._by_text |= zip(batch, rows, strict=True)
        self._save()

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts that were embedded before."""
        return np.stack([self._by_text[text] for text in texts])

    def _save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        texts = np.frombuffer("\x1e".join(self._by_text).encode(), dtype=np.uint8)
        np.savez(self.file, texts=texts, rows=np.stack(list(self._by_text.values())))
