"""Turns texts into vectors that are near each other when the texts mean the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
Purpose: TypeAlias = Literal["passage", "query"]


class Embedder(Protocol):
    """A loaded model, called from several threads at once.

    It has a `model`, a name that changes whenever its vectors would, and a `dimension`.

    The promises below are executable: `plastic_memories.testing.EmbedderContract`.
    """

    @property
    def model(self) -> str:
        """Name whose vectors these are: package or place, model and version."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Return one row of unit length for each text, in order.

        Raise `Unavailable` if it cannot be done now, and `InvalidInput` if it is one of the texts
        that it will never take. A text longer than the model can read is cut.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """What the settings lead to: known at once, loaded later.

    A constructor of this port is given the settings, looks at them, and returns this. `load` may
    take long; it is called on a thread of its own, again if it raised `Unavailable`.
    """

    name: str
    why: str
    load: Callable[[], Embedder] | None = None  # None: there are no vectors
    close: Callable[[], None] | None = None  # called once, at the end
    model: str = ""  # the embedder's `model`, where it is known before it is loaded


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a question, or the reason why there is none."""

    vector: Vectors | None = None
    reason: str = ""
    # Those of `language/text/background_sentences.py`, of the same model.
    background: Vectors | None = None


class QueryEmbedder(Protocol):
    """What a recall engine asks for vectors. Never raises and never waits long."""

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        """Return the vector of a question, comparable with every vector that is stored now.

        The tenant is the one whose metrics count it.
        """
        ...
