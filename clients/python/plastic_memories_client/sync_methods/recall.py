# Generated from async_methods/recall.py (`make docs`); do not edit.
"""Recall memories for a query."""

from __future__ import annotations

from typing import Unpack

from ..models import RecallResult
from ..options import RecallOptions
from .sender import Sender


class Recall(Sender):
    def recall(
        self, query: str, *, fail_open: bool = False, **options: Unpack[RecallOptions]
    ) -> RecallResult:
        """Return memories relevant to `query`, ready for a prompt.

        With `fail_open` a hub that fails or does not answer gives an empty result, and `degraded`
        says why: the conversation goes on without its memory.
        """
        return self._send(self._calls.recall(query, fail_open, **options))
