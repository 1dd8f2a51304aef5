"""Build the request of every hub route from its arguments. No I/O."""

from __future__ import annotations

from .conversation import ConversationCalls
from .formation import FormationCalls
from .memories import MemoryCalls
from .operations import OperationCalls
from .pages import PageCalls
from .personas import PersonaCalls
from .recall import RecallCalls
from .transfer import TransferCalls


class Calls(
    PersonaCalls,
    ConversationCalls,
    MemoryCalls,
    RecallCalls,
    FormationCalls,
    PageCalls,
    TransferCalls,
    OperationCalls,
):
    """The calls of all routes; a client holds one instance."""


__all__ = ["Calls"]
