"""Building blocks of the bodies: texts, ids, times, and what they may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from plastic_memories.formats.export_lines import EARLIEST, LATEST

# No database of ours stores a null character in text.
_NO_NULL = r"^[^\x00]*$"
_NO_CONTROL = r"^[^\x00-\x1f\x7f]*$"
# The largest that every reader of JSON keeps exactly.
_LARGEST_ID = 2**53 - 1

Text = Annotated[str, StringConstraints(pattern=_NO_NULL)]
NonEmptyText = Annotated[str, StringConstraints(min_length=1, pattern=_NO_NULL)]
ShortText = Annotated[str, StringConstraints(max_length=2000, pattern=_NO_NULL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_CONTROL)]
OptionalName = Annotated[str, StringConstraints(max_length=200, pattern=_NO_CONTROL)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=_NO_CONTROL)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_NULL)]


# In a body a number is a number and a flag a flag; only in a query string all come as text.
def _whole_number(value: object) -> object:
    """To JSON, 7.0 and 7 are one number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE_NUMBER = BeforeValidator(_whole_number)
Id = Annotated[int, Field(ge=1, le=_LARGEST_ID, strict=True), WHOLE_NUMBER]
IdParam = Annotated[int, Field(ge=1, le=_LARGEST_ID)]
Flag = Annotated[bool, Field(strict=True)]
Timestamp = Annotated[float, Field(ge=EARLIEST, le=LATEST, allow_inf_nan=False, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
PageSize = Annotated[int, Field(ge=1, le=200)]


class RequestBody(BaseModel):
    """A request. Fields we do not know are ignored, so that older hubs serve newer clients."""

    model_config = ConfigDict(extra="ignore", defer_build=True)


class PersonaRequest(RequestBody):
    """A request about one persona."""

    persona_id: Name


class BotRequest(PersonaRequest):
    """A request about one persona, as one of its bots: rows of other bots do not exist for it."""

    bot_id: OptionalName | None = None
    bots: Annotated[str, StringConstraints(pattern="^(all)?$")] | None = None


class ResponseBody(BaseModel):
    """Part of an answer."""

    model_config = ConfigDict(extra="allow", ser_json_inf_nan="null", defer_build=True)


def all_models(base: type[BaseModel] | None = None) -> Iterator[type[BaseModel]]:
    """Yield all bodies. Each is built when it is first used: to build them all takes a while."""
    for model in base.__subclasses__() if base else (RequestBody, ResponseBody):
        yield model
        yield from all_models(model)
