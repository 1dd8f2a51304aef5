"""Daily token budget for the language model, kept across restarts."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from plastic_memories.errors import Unavailable
from plastic_memories.ports.clock import Clock

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class DailyTokenBudget:
    """A limit per day (UTC), counted in a small file; None for no limit.

    Processes that share the file share the limit. Two concurrent writers may lose one count:
    the limit protects a budget, it is no accounting.
    """

    path: Path
    per_day: int | None
    clock: Clock

    def check_remaining(self, wanted: int) -> None:
        """Raise `Unavailable` if today's budget has fewer than `wanted` tokens left."""
        if self.per_day is not None and self.tokens_spent_today() + wanted > self.per_day:
            wait = _DAY_S - self.clock.now() % _DAY_S
            raise Unavailable(
                "The day's tokens for the language model are spent.",
                {"retry_after_s": wait, "over_limit": True},
            )

    def tokens_spent_today(self) -> int:
        """Return the tokens spent today; 0 if the file cannot be read."""
        try:
            record = json.loads(self.path.read_text(encoding="utf-8"))
            return int(record["tokens"]) if record["day"] == self._today() else 0
        except (OSError, ValueError, LookupError, TypeError):
            return 0

    def add_spent_tokens(self, tokens: int) -> None:
        if self.per_day is None or tokens == 0:
            return
        total = {"day": self._today(), "tokens": self.tokens_spent_today() + tokens}
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(total), encoding="utf-8")
        temporary.replace(self.path)

    def _today(self) -> int:
        return int(self.clock.now() // _DAY_S)
