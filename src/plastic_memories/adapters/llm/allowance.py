"""How many tokens may be spent in a day, kept over restarts."""

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
    """A limit for each day (UTC), counted in a small file; None for no limit.

    Processes that share the file share the limit. Two that write at the same moment may lose
    one another's last count: the limit protects a purse, it is no storage.
    """

    path: Path
    per_day: int | None
    clock: Clock

    def check_remaining(self, wanted: int) -> None:
        """Raise `Unavailable` if so many tokens are more than the rest of the day has."""
        if self.per_day is not None and self.tokens_spent_today() + wanted > self.per_day:
            wait = _DAY_S - self.clock.now() % _DAY_S
            raise Unavailable(
                "The day's tokens for the language model are spent.",
                {"retry_after_s": wait, "over_limit": True},
            )

    def tokens_spent_today(self) -> int:
        """Return what was spent today; a file that cannot be read counts for nothing."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            return int(kept["tokens"]) if kept["day"] == self._today() else 0
        except (OSError, ValueError, LookupError, TypeError):
            return 0

    def add_spent_tokens(self, tokens: int) -> None:
        if self.per_day is None or tokens == 0:
            return
        total = {"day": self._today(), "tokens": self.tokens_spent_today() + tokens}
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        beside.write_text(json.dumps(total), encoding="utf-8")
        beside.replace(self.path)

    def _today(self) -> int:
        return int(self.clock.now() // _DAY_S)
