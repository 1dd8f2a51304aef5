"""How the values that requests make by the hundred are declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen: bool, **options: bool) -> object:
        """Declare a frozen dataclass whose freezing is the type checker's to keep.

        At run time a frozen class sets each field by a call, which makes a memory of 33 fields
        ten times as dear: an eighth of the processor time of a small write.
        """
        return dataclass(**options, unsafe_hash=frozen)
