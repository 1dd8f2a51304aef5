"""What SQL engines write differently in a statement that is built, or in a value."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any, Protocol

from plastic_memories.adapters.sql.statements import ParameterStyle


class Dialect(Hashable, Protocol):
    """The few words that differ; whole statements that do are in the engine's own file.

    It has no state, and there is one for each engine: built statements are kept by it. Truth
    values are bound as `bool`, enumerations as the text they are; JSON is text everywhere.
    """

    @property
    def parameter_style(self) -> ParameterStyle: ...

    def array(self, values: Collection[Any]) -> object:
        """Return values as one parameter, which `is_member` reads."""
        ...

    def is_member(self, column: str, parameter: str) -> str:
        """Return the condition that a column is among the values of an `array` parameter."""
        ...

    def members(self, parameter: str) -> str:
        """Return the query of the values of an `array` parameter, one in each row."""
        ...

    def contains(self, column: str, parameter: str) -> str:
        """Return the condition that a text is like a pattern in which a backslash escapes.

        Latin letters are the same in either case.
        """
        ...

    def starts_with(self, column: str, parameter: str) -> str:
        """Return the condition that a text begins with another, letter by letter."""
        ...

    def json_text(self, column: str, name: str) -> str:
        """Return the text of one member of a JSON object in a text column; NULL if none."""
        ...

    def skip_index(self, column: str) -> str:
        """Return a column so that no index is chosen by it: another says far more."""
        ...

    def use_index(self, name: str) -> str:
        """Return the words after a table that name the index to read it by; empty if none."""
        ...
