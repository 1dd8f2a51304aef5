"""Turn lines that a person wrote into a core page into memory drafts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plastic_memories.errors import Rejected
from plastic_memories.formats.pages.page_lines import statement_digest
from plastic_memories.hub.transactions.screening import Screening, refusal_reason
from plastic_memories.model.memory import SLOT_TYPES, Draft, MemoryType, Scope, SourceType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.page import CORE_ID, SyncedFolder
from plastic_memories.ports.judge import JudgeEngine

SOURCE_APP = "markdown"


@dataclass(frozen=True, slots=True)
class LineDrafter:
    screening: Screening
    judge: JudgeEngine
    max_chars: int = 32_000

    def __call__(
        self, synced: SyncedFolder, texts: Iterable[str], time_zone: str, now: float
    ) -> dict[str, Draft | str]:
        """Return a draft for each line, or the reason why it may not be stored."""
        return {text: self._draft(synced, text, time_zone, now) for text in texts}

    def _draft(self, synced: SyncedFolder, text: str, time_zone: str, now: float) -> Draft | str:
        if len(text) > self.max_chars:
            return f"longer than {self.max_chars} characters"
        owner = Owner(synced.folder.tenant_id, synced.folder.user_id, synced.target_persona_id)
        message = Message(owner=owner, role=Role.USER, content=text, ts=now)
        draft = replace(
            self._interpret(message, time_zone),
            content=text,
            scope=Scope.PERSONA if synced.folder.persona_id else Scope.GLOBAL,
            source_type=SourceType.USER_EXPLICIT,
            source_app=SOURCE_APP,
            source_ref=CORE_ID,
            confidence=None,
            quote="",
        )
        try:
            return self.screening.screen_draft(draft)
        except Rejected as error:
            return refusal_reason(error)

    def _interpret(self, message: Message, time_zone: str) -> Draft:
        """Return the judge's draft if it finds exactly one plain fact, otherwise a note."""
        found = self.judge.extract([message], time_zone)
        if len(found) == 1 and _is_plain(found[0]):
            return found[0]
        return as_note(Draft(type=MemoryType.NOTE, key="", content=message.content))


def as_note(draft: Draft) -> Draft:
    """Return the draft as a note with a key of its own, so that it replaces nothing."""
    key = f"page.{statement_digest(draft.content)}"
    return replace(draft, type=MemoryType.NOTE, key=key, attributes={})


def _is_plain(draft: Draft) -> bool:
    return (
        draft.type not in SLOT_TYPES
        and draft.realm is Realm.REAL
        and not draft.speaker
        and draft.source_type is SourceType.USER_EXPLICIT
    )
