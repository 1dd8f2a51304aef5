"""Options of the HTTP layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """Address, limits and memory options of the OpenAI proxy."""

    url: str = ""
    key: str = field(default="", repr=False)
    recall_s: float = 1.2
    budget_tokens: int | None = None
    position: str = "before_last_user"  # or "depth", "system"
    depth: int = 4
    role: str = "system"
    context_messages: int = 2
    rewrite: bool = False
    rewrite_prompt: str = ""
    rewrite_model: str = ""
    rewrite_s: float = 1.5
    connect_s: float = 10.0
    first_byte_s: float = 600.0
    idle_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    version: str
    key_file: str = "~/.plastic_memories/key"
    plugged_in: Mapping[str, str] = field(default_factory=dict)
    max_query_chars: int = 16_000
    max_content_chars: int = 32_000
    max_body_bytes: int = 8 * 1024 * 1024
    max_import_bytes: int = 256 * 1024 * 1024
    max_import_entries: int = 500_000
    max_card_entries: int = 5_000
    recall_deadline_s: float = 1.0
    cors_origins: tuple[str, ...] = ()
    cors_origin_regex: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    rate: tuple[int, float] | None = None  # requests per seconds
    wrong_keys_per_minute: int = 20  # from one address
    max_event_sockets: int = 500
    max_event_sockets_per_key: int = 50
    metrics_public: bool = False
    # Name → value without secrets, and whether it is the default: for the operator to look at.
    effective_settings: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    proxy: ProxyOptions = field(default_factory=ProxyOptions)
