"""/memory/recall"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from ..errors import PlasticMemoriesClientError
from ..models import RecallResult
from ..options import RecallOptions
from ..protocol import Call, post, result
from .messages import spoken
from .origin import CallsFrom


class RecallCalls(CallsFrom):
    """What bears on a text."""

    __slots__ = ()

    def recall(
        self, query: str, fail_open: bool, **options: Unpack[RecallOptions]
    ) -> Call[RecallResult]:
        fields: dict[str, Any] = {**options, "query": query}
        if "recent_messages" in options:
            fields["recent_messages"] = spoken(options["recent_messages"])
        call = post("/memory/recall", result(RecallResult), self.within(fields))
        return replace(call, fallback=_nothing) if fail_open else call


def _nothing(error: PlasticMemoriesClientError) -> RecallResult:
    return RecallResult.empty(error.code)
