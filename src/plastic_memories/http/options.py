"""What the front door needs to know of the installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    version: str
    plugged_in: Mapping[str, str] = field(default_factory=dict)
    max_query_chars: int = 16_000
    max_content_chars: int = 32_000
    max_body_bytes: int = 8 * 1024 * 1024
    max_import_bytes: int = 1024 * 1024 * 1024
    recall_deadline_s: float = 1.0
    cors_origins: tuple[str, ...] = ()
    cors_origin_regex: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    rate: tuple[int, float] | None = None  # requests, in seconds
    metrics_public: bool = False
