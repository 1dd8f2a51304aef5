"""/memory/recall"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from ..errors import PlasticMemoriesClientError
from ..models import RecallResult
from ..options import RecallOptions
from ..protocol import Call, post, result
from .context import CallContext
from .conversation import wire_messages


class RecallCalls(CallContext):
    __slots__ = ()

    def recall(
        self, query: str, fail_open: bool, **options: Unpack[RecallOptions]
    ) -> Call[RecallResult]:
        fields: dict[str, Any] = {**options, "query": query}
        if "recent_messages" in options:
            fields["recent_messages"] = wire_messages(options["recent_messages"])
        call = post("/memory/recall", result(RecallResult), self.conversation_fields(fields))
        return replace(call, fallback=_nothing) if fail_open else call


def _nothing(error: PlasticMemoriesClientError) -> RecallResult:
    return RecallResult.empty(error.code)
