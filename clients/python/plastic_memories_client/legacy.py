"""Arguments of the older SDK, translated into today's.

`filters` had no effect in the older SDK and has none here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from .models import RecallResult

SECTIONS = ("profile", "memory", "snippets")
DAY_S = 86400.0

Narrow = Callable[[RecallResult], RecallResult]


class LegacyRecallOptions(TypedDict, total=False):
    """Older names; `limit` and `include` are the ones of today.

    `top_k_snippets` and `snippets_days` shorten `chat_snippets`, not `injection_block`.
    """

    top_k: int | None
    top_k_snippets: int | None
    include_snippets: bool
    include_profile: bool
    snippets_days: float | None
    filters: Mapping[str, Any] | None
    disable_retry: bool


def recall_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a recall in today's names only.

    >>> recall_fields({"top_k": 3, "include_profile": False})
    {'limit': 3, 'include': ['memory', 'snippets']}
    """
    older = LegacyRecallOptions.__annotations__
    fields = {name: value for name, value in options.items() if name not in older}
    if options.get("top_k") is not None:
        fields.setdefault("limit", options["top_k"])
    excluded = {name for name in SECTIONS if not options.get(f"include_{name}", True)}
    if excluded:
        wanted = fields.get("include") or SECTIONS
        fields["include"] = [name for name in wanted if name not in excluded]
    return fields


def snippet_limits(options: Mapping[str, Any]) -> Narrow:
    """Return a function that shortens the snippets of a recall as the older options say."""
    count, days = options.get("top_k_snippets"), options.get("snippets_days")
    if count is None and days is None:
        return lambda found: found

    def narrow(found: RecallResult) -> RecallResult:
        snippets = found.chat_snippets
        if days is not None:
            now = options.get("now")
            oldest = (time.time() if now is None else now) - days * DAY_S
            snippets = [snippet for snippet in snippets if (snippet.ts or 0.0) >= oldest]
        return found.model_copy(update={"chat_snippets": snippets[:count]})

    return narrow
