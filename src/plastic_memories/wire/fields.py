"""Field types of the bodies: texts, ids, times, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from plastic_memories.formats.export_lines import EARLIEST, LATEST
from plastic_memories.rules.conversation.session_key import session_key

# None of our databases stores a null character in text.
_NO_NULL = r"^[^\x00]*$"
_NO_CONTROL = r"^[^\x00-\x1f\x7f]*$"
# The largest integer that every JSON parser reads exactly.
_LARGEST_ID = 2**53 - 1

Text = Annotated[str, StringConstraints(pattern=_NO_NULL)]
NonEmptyText = Annotated[str, StringConstraints(min_length=1, pattern=_NO_NULL)]
ShortText = Annotated[str, StringConstraints(max_length=2000, pattern=_NO_NULL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_CONTROL)]
OptionalName = Annotated[str, StringConstraints(max_length=200, pattern=_NO_CONTROL)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=_NO_CONTROL)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_NULL)]


# In a body a number is a number and a flag a flag; in a query string all values are text.
def _whole_number(value: object) -> object:
    """Return 7.0 as 7: JSON has one type for both."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE_NUMBER = BeforeValidator(_whole_number)
Id = Annotated[int, Field(ge=1, le=_LARGEST_ID, strict=True), WHOLE_NUMBER]
IdParam = Annotated[int, Field(ge=1, le=_LARGEST_ID)]
Flag = Annotated[bool, Field(strict=True)]
Timestamp = Annotated[float, Field(ge=EARLIEST, le=LATEST, allow_inf_nan=False, strict=True)]
TimestampParam = Annotated[float, Field(ge=EARLIEST, le=LATEST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
ShareParam = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
PageSize = Annotated[int, Field(ge=1, le=200)]


class RequestBody(BaseModel):
    """A request. Unknown fields are ignored, so that older hubs serve newer clients."""

    model_config = ConfigDict(extra="ignore", defer_build=True)


class PersonaRequest(RequestBody):
    """A request about one persona."""

    persona_id: Name


class BotRequest(PersonaRequest):
    """A request about one persona, as one of its bots; it does not see rows of other bots."""

    bot_id: OptionalName | None = None
    bots: Annotated[str, StringConstraints(pattern="^(all)?$")] | None = None


class SessionFields(BaseModel):
    """The conversation a request is about.

    With `platform`, the same session id on another platform or of another message type is another
    conversation; name both with every request, then.
    """

    session_id: OptionalName | None = None
    platform: OptionalName | None = None
    message_type: OptionalName | None = None

    @property
    def session_key(self) -> str:
        """Return the id under which the conversation is stored; empty if none is named."""
        return session_key(self.session_id or "", self.platform or "", self.message_type or "")


class SessionRequest(BotRequest, SessionFields):
    """A request about one persona in one conversation."""


class ResponseBody(BaseModel):
    """Part of a response."""

    model_config = ConfigDict(extra="allow", ser_json_inf_nan="null", defer_build=True)


def all_models(base: type[BaseModel] | None = None) -> Iterator[type[BaseModel]]:
    """Yield all bodies. Each is built at its first use: building all of them takes a while."""
    for model in base.__subclasses__() if base else (RequestBody, ResponseBody):
        yield model
        yield from all_models(model)
