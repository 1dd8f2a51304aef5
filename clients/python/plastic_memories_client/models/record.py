"""What every model of the SDK is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Record(BaseModel):
    """A thing of the hub. Fields of a newer hub are kept as attributes."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_means_not_given(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value is not None}


class Result(Record):
    """An answer: its fields, and `raw`, the data as it came."""

    request_id: str = ""
    raw: dict[str, Any] = Field(default_factory=dict, repr=False)
