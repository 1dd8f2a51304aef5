"""The text index as the stores use it: terms by partition, so that nobody reads another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plastic_memories.model.owner import User


class TextIndexUnavailable(Exception):
    """The index cannot be searched now: it is damaged, or gone. The rows are still there."""


@dataclass(frozen=True, slots=True)
class TextPartition:
    """What one persona knows, or what all personas of a user share, in the text index."""

    user: User
    name: str  # p<persona row> or g<user row>


class TextIndex(Protocol):
    """The index of one table. A change never fails: rows count, and are searched without it."""

    def put(self, rows: Iterable[tuple[int, TextPartition, list[str]]]) -> None:
        """Index rows that are not in the index yet: id, partition and terms of each."""
        ...

    def remove(self, row_id: int, partition: TextPartition, text: str) -> None:
        """Take a row out if it is in; `text` must be what it was indexed with."""
        ...

    def erase_words(self, partition: TextPartition, texts: Iterable[str]) -> None:
        """Remove what is left of the words of erased texts that no row holds any more."""
        ...

    def search(
        self,
        statement: str,
        partitions: Sequence[TextPartition],
        terms: Sequence[str],
        params: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """Run a search by its name: rows of these partitions that hold a term, best first.

        Raise `TextIndexUnavailable` if it cannot be searched.
        """
        ...

    def document_counts(
        self, partition: TextPartition, terms: Sequence[str], most: int
    ) -> dict[str, int]:
        """Return how many rows of a partition hold each term; counts no further than `most`.

        Raise `TextIndexUnavailable` if it cannot be searched.
        """
        ...

    def without_common_terms(
        self, partitions: Sequence[TextPartition], terms: Sequence[str], documents: int
    ) -> list[str]:
        """Leave out the terms that too many rows of a large partition hold, if others remain.

        Raise `TextIndexUnavailable` if it cannot be searched.
        """
        ...
