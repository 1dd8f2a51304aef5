"""Every route of the hub, as a function of its arguments. No I/O."""

from __future__ import annotations

from .cards import CardCalls
from .hub import HubCalls
from .memory import MemoryCalls
from .messages import MessageCalls
from .pages import PageCalls
from .persona import PersonaCalls
from .recall import RecallCalls


class Calls(PersonaCalls, CardCalls, MessageCalls, MemoryCalls, PageCalls, RecallCalls, HubCalls):
    """All of them: what a client holds."""


__all__ = ["Calls"]
