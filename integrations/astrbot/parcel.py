"""Messages of one turn on their way to the hub."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .identity import Identity


def _new_number() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Parcel:
    """Messages of one turn; sent twice, they are stored once."""

    who: Identity
    messages: Sequence[Mapping[str, Any]]
    conversation: str = ""  # of AstrBot, to which they belong
    number: str = field(default_factory=_new_number)
