"""Every route of the hub, as a function of its arguments. No I/O."""

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
    """All of them: what a client holds."""


__all__ = ["Calls"]
