"""The `doctor` check of the embedder: which one, why, and how many vectors are missing."""

from __future__ import annotations

from plastic_memories.adapters.sqlite.doctor import VectorCounts, vector_counts
from plastic_memories.cli.installation import EMBEDDED_BACKEND
from plastic_memories.cli.operations.doctor_checks import FAIL, OK, WARN, Check
from plastic_memories.errors import InvalidSetting, PlasticMemoriesError
from plastic_memories.hub.vectors.embedder_probe import probe_embedder
from plastic_memories.ports.embedder import Embedder, EmbedderChoice
from plastic_memories.settings import Settings
from plastic_memories.wiring import embedder_choice

_NAME = "embedder"
_ADVICE = "Recall uses text search only. Fix it, or set EMBEDDER=none."


def check_embedder(settings: Settings) -> Check:
    """Load and try the embedder as the hub would, and compare it with the stored vectors."""
    try:
        choice = embedder_choice(settings)
    except InvalidSetting as error:
        return Check(_NAME, FAIL, error.message, "Correct it, or set EMBEDDER=none.")
    if choice.load is None:
        return Check(_NAME, OK, f"{choice.name}: {choice.why}")
    try:
        embedder = choice.load()
        probe_embedder(embedder)
        return _compare_with_stored(choice, embedder, _stored_vectors(settings))
    except PlasticMemoriesError as error:
        return Check(_NAME, FAIL, f"{choice.name}: {error.message}", _ADVICE)
    # A plug-in may raise anything while it is loaded; the other checks go on.
    except Exception as error:  # noqa: BLE001
        return Check(_NAME, FAIL, f"{choice.name} raised {type(error).__name__}.", _ADVICE)
    finally:
        if choice.close is not None:
            choice.close()


def _stored_vectors(settings: Settings) -> VectorCounts:
    if settings.backend != EMBEDDED_BACKEND or not settings.db_path.is_file():
        return VectorCounts()
    return vector_counts(settings.db_path, settings.busy_timeout_ms)


def _compare_with_stored(choice: EmbedderChoice, embedder: Embedder, known: VectorCounts) -> Check:
    name = f"{embedder.model}#{embedder.dimension}"
    found = (
        f"{choice.name}, because {choice.why}: {embedder.model}, {embedder.dimension} dimensions"
    )
    if known.stored and known.model != name:
        stale = f"; {known.stored} vectors are of {known.model or 'another model'}"
        advice = "A running hub embeds them again; until then recall uses text search only."
        return Check(_NAME, WARN, found + stale, advice)
    return Check(_NAME, OK, f"{found}; {known.stored} vectors, {known.waiting} waiting")
