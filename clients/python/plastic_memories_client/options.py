"""Optional fields of calls, declared once for both clients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from .legacy import LegacyRecallOptions
from .models import Message
from .wire_options import ForgetFields, ListFields, MemoryFields, Realm, RecallFields

Utterance = Message | Mapping[str, Any]
Utterances = Utterance | Sequence[Utterance]
CardSource = bytes | str | os.PathLike[str]
Lines = bytes | str | os.PathLike[str] | Iterable[bytes | str]
CardFormat = Literal["png", "json"]
ExportFormat = Literal["jsonl", "markdown", "bundle"]


class Origin(TypedDict, total=False):
    """The origin of a call; fields left out default to the client's own."""

    persona_id: str | None
    session_id: str | None
    source_app: str | None
    bot_id: str | None


class RecallOptions(Origin, RecallFields, LegacyRecallOptions, total=False):
    recent_messages: Sequence[Utterance]
    include: Sequence[str]
    branch_id: str | int | None
    bots: Literal["all"]


class TalkOptions(Origin, total=False):
    """Fields for messages that leave them out themselves."""

    branch_id: str | int | None
    realm: Realm


class NewMemory(MemoryFields, total=False):
    """One of the items of `write_items`."""

    type: Required[str]
    key: Required[str]
    content: Required[str]


class WriteOptions(MemoryFields, total=False):
    persona_id: str | None


class MemoryFilter(ListFields, total=False):
    persona_id: str | None
    cursor: str | int | None
    bot_id: str | None
    bots: Literal["all"]


class MessageFilter(TypedDict, total=False):
    """Filters of messages; the client's own session and app are not applied."""

    persona_id: str | None
    limit: int
    days: float
    session_id: str
    source_app: str
    before_id: int
    branch_id: str | int | None


class WhichMessage(TypedDict, total=False):
    """A message, by one of the two ids."""

    persona_id: str | None
    message_id: int
    client_msg_id: str


class ArchivePlace(TypedDict, total=False):
    """Which of the conversations of one session."""

    persona_id: str | None
    source_app: str
    bot_id: str
    bots: Literal["all"]
    branch_id: str | int | None


class ArchiveFilter(TypedDict, total=False):
    """Filters of finished conversations; the client's own app is not applied."""

    persona_id: str | None
    since: float
    until: float
    source_app: str
    bot_id: str
    bots: Literal["all"]
    limit: int
    cursor: str | int | None


class ForgetOptions(ForgetFields, total=False):
    persona_id: str | None
    bots: Literal["all"]
    # The older SDK's way to name type and key.
    match: Mapping[str, Any] | None
