"""Base classes of all models."""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Record(BaseModel):
    """An object of the hub. Fields of a newer hub are kept as attributes."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_means_not_given(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value is not None}

    # A record is also a mapping. It has no `items` method: some have a field of that name.

    def __getitem__(self, name: str) -> Any:
        return self._mapping()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._mapping()

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self._mapping())

    def keys(self) -> KeysView[str]:
        """Return the names of the fields, including those that a newer hub has added."""
        return self._mapping().keys()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or `default` if there is none of this name."""
        return self._mapping().get(name, default)

    def _mapping(self) -> dict[str, Any]:
        return {**self.__dict__, **(self.model_extra or {})}


class Result(Record):
    """A response: its fields, and `raw`, the data as received."""

    request_id: str = ""
    raw: dict[str, Any] = Field(default_factory=dict, repr=False)

    def _mapping(self) -> dict[str, Any]:
        # A field whose name differs from the hub's has both names.
        fields = {**self.raw, **super()._mapping()}
        del fields["raw"]
        return fields
