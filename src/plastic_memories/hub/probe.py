"""Whether an embedder works, found out with harmless texts."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.errors import PlasticMemoriesError, Unavailable
from plastic_memories.ports.embedder import Embedder, Vectors
from plastic_memories.rules.vectors import is_usable

OTHER_SHAPE = "The embedder returned vectors of another shape."
_NOWHERE = "The embedder returned a vector that points nowhere: zeros, or no numbers."
_TEXT = "."


def probe(embedder: Embedder, texts: Sequence[str] = (_TEXT,)) -> Vectors:
    """Embed something harmless; raise `Unavailable` unless vectors come back that can be used.

    The hub asks before it trusts an embedder with anything, and `doctor` asks the same: both
    must come to the same answer.
    """
    try:
        rows = embedder.embed(texts, purpose="passage")
    except PlasticMemoriesError as error:
        raise Unavailable(error.message) from error
    # A plug-in's model may raise anything.
    except Exception as error:
        raise Unavailable(f"The embedder raised {type(error).__name__}.") from error
    if rows.shape != (len(texts), embedder.dimension):
        raise Unavailable(OTHER_SHAPE)
    if not is_usable(rows).all():
        raise Unavailable(_NOWHERE)
    return rows
