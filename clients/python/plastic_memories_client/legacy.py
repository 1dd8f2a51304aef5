"""Translate arguments of the older SDK into current ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, TypedDict

from .models import Message, RecallResult

SECTIONS = ("profile", "memory", "snippets")
DAY_S = 86400.0


class LegacyRecallOptions(TypedDict, total=False):
    """Older names; `limit`, `include` and `types` are the current ones.

    `top_k_snippets` and `snippets_days` limit `chat_snippets`, not `injection_block`. Of `filters`
    only `type` or `types` has an effect; in the older SDK none had.
    """

    top_k: int | None
    top_k_snippets: int | None
    include_snippets: bool
    include_profile: bool
    snippets_days: float | None
    filters: Mapping[str, Any] | None
    disable_retry: bool


def recall_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a recall in current names only.

    >>> recall_fields({"top_k": 3, "include_profile": False})
    {'limit': 3, 'include': ['memory', 'snippets']}
    """
    older = LegacyRecallOptions.__annotations__
    fields = {name: value for name, value in options.items() if name not in older}
    if options.get("top_k") is not None:
        fields.setdefault("limit", options["top_k"])
    if types := _types(options.get("filters") or {}):
        fields.setdefault("types", types)
    if excluded := excluded_sections(options):
        wanted = fields.get("include")
        sections = SECTIONS if wanted is None else wanted
        fields["include"] = [name for name in sections if name not in excluded]
    return fields


def excluded_sections(options: Mapping[str, Any]) -> set[str]:
    """Return the sections of a recall that an older option excludes."""
    return {name for name in SECTIONS if not options.get(f"include_{name}", True)}


def narrow(found: RecallResult, options: Mapping[str, Any]) -> RecallResult:
    """Return a recall without the parts that older options exclude."""
    update: dict[str, Any] = {"chat_snippets": _snippets(found.chat_snippets, options)}
    # The hub returns the profile whether or not it is included in the blocks.
    if "profile" in excluded_sections(options):
        update["persona_profile"] = ""
    return found.model_copy(update=update)


def _types(filters: Mapping[str, Any]) -> list[str]:
    types = filters.get("types") or filters.get("type") or []
    return [types] if isinstance(types, str) else list(types)


def _snippets(snippets: list[Message], options: Mapping[str, Any]) -> list[Message]:
    if (days := options.get("snippets_days")) is not None:
        now = options.get("now")
        oldest = (time.time() if now is None else now) - days * DAY_S
        snippets = [snippet for snippet in snippets if (snippet.ts or 0.0) >= oldest]
    return snippets[: options.get("top_k_snippets")]
