"""Settings → adapters → services → hub → application: the only place that wires."""

from __future__ import annotations

from plastic_memories.wiring.composition import open_hub
from plastic_memories.wiring.first_key import FIRST_USER, operator_link
from plastic_memories.wiring.plugin_choice import SystemClock, embedder_choice, open_storage
from plastic_memories.wiring.web_app import build_app, http_options

__all__ = [
    "FIRST_USER",
    "SystemClock",
    "build_app",
    "embedder_choice",
    "http_options",
    "open_hub",
    "open_storage",
    "operator_link",
]
