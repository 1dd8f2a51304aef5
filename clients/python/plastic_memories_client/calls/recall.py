"""Calls to /memory/recall."""

from __future__ import annotations

from typing import Unpack

from ..errors import PlasticMemoriesClientError
from ..legacy import narrow, recall_fields
from ..models import RecallResult
from ..options import RecallOptions
from ..protocol import Call, result
from .context import CallContext
from .conversation import wire_messages


class RecallCalls(CallContext):
    __slots__ = ()

    def recall(
        self, query: str, fail_open: bool, **options: Unpack[RecallOptions]
    ) -> Call[RecallResult]:
        fields = {**recall_fields(options), "query": query}
        if "recent_messages" in options:
            fields["recent_messages"] = wire_messages(options["recent_messages"])
        read = result(RecallResult)
        return Call(
            method="POST",
            path="/memory/recall",
            read=lambda reply: narrow(read(reply), options),
            json=self.conversation_fields(fields),
            fallback=_nothing if fail_open else None,
            retry=not options.get("disable_retry"),
        )


def _nothing(error: PlasticMemoriesClientError) -> RecallResult:
    return RecallResult.empty(error.code)
