"""Settings that embedders read."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class EmbeddingOptions(Protocol):
    @property
    def data_dir(self) -> Path: ...
    @property
    def embedder_model(self) -> str: ...
    @property
    def embedder_threads(self) -> int: ...
    @property
    def embedder_base_url(self) -> str: ...
    @property
    def embedder_api_key(self) -> str: ...
    @property
    def embedder_timeout_s(self) -> float: ...
