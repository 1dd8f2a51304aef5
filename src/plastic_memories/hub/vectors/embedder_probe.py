"""Health check of an embedder with harmless texts."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.errors import PlasticMemoriesError, Unavailable
from plastic_memories.language.text.background_sentences import BACKGROUND_SENTENCES
from plastic_memories.ports.embedder import Embedder, Vectors
from plastic_memories.rules.ranking.vector_codec import usable_rows

_WRONG_SHAPE = "The embedder returned vectors of another shape."
_ZERO_VECTOR = "The embedder returned a vector that points nowhere: zeros, or no numbers."


def probe_embedder(embedder: Embedder, texts: Sequence[str] = BACKGROUND_SENTENCES) -> Vectors:
    """Embed harmless texts and return their vectors; raise `Unavailable` unless all are usable.

    The hub probes an embedder before it uses it, and `doctor` runs the same probe: both must
    come to the same result.
    """
    try:
        rows = embedder.embed(texts, purpose="passage")
        check_shape(rows, (len(texts), embedder.dimension))
        usable = usable_rows(rows).all()
    except PlasticMemoriesError as error:
        raise Unavailable(error.message) from error
    # A plug-in's model may raise anything and return anything.
    except Exception as error:
        raise Unavailable(f"The embedder raised {type(error).__name__}.") from error
    if not usable:
        raise Unavailable(_ZERO_VECTOR)
    return rows


def check_shape(rows: Vectors, wanted: tuple[int, int]) -> None:
    """Raise `Unavailable` unless these are vectors of the wanted number and dimension."""
    # A plug-in may return an object without a shape.
    if getattr(rows, "shape", None) != wanted:
        raise Unavailable(_WRONG_SHAPE)
