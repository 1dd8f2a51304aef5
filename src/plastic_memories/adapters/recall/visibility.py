"""Visibility of index entries for one reader at one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plastic_memories.rules.ranking.score_parts import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class VisibleEntries:
    mask: Bools
    number: int  # how many are visible

    @classmethod
    def from_mask(cls, seen: Bools) -> VisibleEntries:
        return cls(seen, int(np.count_nonzero(seen)))

    @property
    def is_everything(self) -> bool:
        """Return whether every entry is visible, as for nearly every reader."""
        return self.number == len(self.mask)

    def where_visible(self, values: Floats, elsewhere: float) -> Floats:
        """Return values with `elsewhere` where invisible; the same array if all are visible."""
        return values if self.is_everything else np.where(self.mask, values, elsewhere)
