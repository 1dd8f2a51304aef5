"""Typed models of requests and responses; every model accepts unknown fields."""

from __future__ import annotations

from .conversation import AppendResult, Branch, Message, Removed
from .formation import (
    ArchivedConversation,
    ArchivedMessage,
    ArchivedTalk,
    ArchivePage,
    ArchiveSummary,
    Job,
)
from .memories import (
    Changed,
    ChangedItem,
    ChangedMany,
    Forgotten,
    MemoryPage,
    Skipped,
    WriteResult,
    Written,
)
from .memory_item import MemoryItem, Replaced
from .operations import AuditEntry, Capabilities, Health, HubEvent, Rebuilt, UserSettings
from .pages import Page, PageIndex, PageSync, PageTitle, SkippedLine
from .personas import (
    CardImported,
    Goal,
    GoalCreated,
    GoalLink,
    GoalLinked,
    Persona,
    PersonaCreated,
    PersonaProfile,
    Slot,
    TemplateApplied,
)
from .recall import Block, Intent, RecallResult
from .record import Record, Result
from .transfer import ExportedFile, Imported, ImportUndone

__all__ = [
    "AppendResult",
    "ArchivePage",
    "ArchiveSummary",
    "ArchivedConversation",
    "ArchivedMessage",
    "ArchivedTalk",
    "AuditEntry",
    "Block",
    "Branch",
    "Capabilities",
    "CardImported",
    "Changed",
    "ChangedItem",
    "ChangedMany",
    "ExportedFile",
    "Forgotten",
    "Goal",
    "GoalCreated",
    "GoalLink",
    "GoalLinked",
    "Health",
    "HubEvent",
    "ImportUndone",
    "Imported",
    "Intent",
    "Job",
    "MemoryItem",
    "MemoryPage",
    "Message",
    "Page",
    "PageIndex",
    "PageSync",
    "PageTitle",
    "Persona",
    "PersonaCreated",
    "PersonaProfile",
    "Rebuilt",
    "RecallResult",
    "Record",
    "Removed",
    "Replaced",
    "Result",
    "Skipped",
    "SkippedLine",
    "Slot",
    "TemplateApplied",
    "UserSettings",
    "WriteResult",
    "Written",
]
