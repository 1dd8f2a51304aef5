"""Port of the embedder: turns texts into vectors that are close if the meanings are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plastic_memories.model.owner import Owner

Vectors: TypeAlias = NDArray[np.float32]
Purpose: TypeAlias = Literal["passage", "query"]


class Embedder(Protocol):
    """A loaded model, called from several threads at once.

    `model` is a name that changes whenever its vectors would.

    The promises below are executable: `plastic_memories.testing.EmbedderContract`.
    """

    @property
    def model(self) -> str:
        """Return the name of the model: package or address, model and version."""
        ...

    @property
    def dimension(self) -> int:
        """Return the number of components of a vector."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """Return one row of unit length for each text, in order.

        Raise `Unavailable` if it cannot be done now, and `InvalidInput` if one of the texts can
        never be embedded. A text longer than the model can read is cut.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The result of reading the settings: available at once, loaded later.

    A constructor of this port gets the settings and returns this without loading anything.
    `load` may take long; it runs on a thread of its own, and again if it raised `Unavailable`.
    """

    name: str
    why: str
    load: Callable[[], Embedder] | None = None  # None: there are no vectors
    close: Callable[[], None] | None = None  # called once, at shutdown
    model: str = ""  # the embedder's `model`, if it is known before loading
    is_in_process: bool = False  # a few texts take milliseconds: a search may wait for them


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, or the reason why there is none."""

    vector: Vectors | None = None
    reason: str = ""
    # Vectors of `language/text/background_sentences.py`, from the same model.
    background: Vectors | None = None


class QueryEmbedder(Protocol):
    """Embeds queries for a recall engine. Never raises and never waits long."""

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        """Return the vector of a query, comparable with every stored vector.

        `tenant_id` names the tenant whose metrics count it.
        """
        ...

    async def embed_recent(self, owner: Owner, deadline_s: float) -> None:
        """Embed the few entries that an owner has just written; return at the deadline anyway."""
        ...
