"""Fast frozen dataclasses for values that a request creates by the hundred."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen: bool, **options: bool) -> object:
        """Declare a frozen dataclass that only the type checker enforces.

        At run time a frozen class sets each field by a call, which makes a memory of 33 fields ten
        times as slow to create: an eighth of the processor time of a small write.
        """
        return dataclass(**options, unsafe_hash=frozen)
