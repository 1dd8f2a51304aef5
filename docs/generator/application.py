"""The application as it is installed by default: what the reference pages are read from."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from plastic_memories.settings import load
from plastic_memories.wiring import build_app


@cache
def openapi() -> dict[str, Any]:
    """Return the OpenAPI document. Nothing is opened or written for it."""
    nowhere = Path("not-made")
    return build_app(load({"PLASTIC_MEMORIES_DATA_DIR": str(nowhere)})).openapi()
