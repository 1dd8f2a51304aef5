"""Calls to /persona and /goals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..models import (
    CardImported,
    Changed,
    Goal,
    GoalCreated,
    GoalLinked,
    Persona,
    PersonaCreated,
    PersonaProfile,
    Result,
    Slot,
    TemplateApplied,
)
from ..options import CardFormat, CardSource
from ..protocol import Call, file, get, post, records, result, without_none
from .context import CallContext


class PersonaCalls(CallContext):
    __slots__ = ()

    def persona_create(
        self,
        persona_id: str | None,
        display_name: str | None,
        description: str | None,
        meta: Mapping[str, Any],
    ) -> Call[PersonaCreated]:
        fields = without_none(
            persona_id=persona_id, display_name=display_name, description=description
        )
        body = self.persona_fields(None) | without_none(**meta) | fields
        return post("/persona/create", result(PersonaCreated), body)

    def create_from_template(
        self, template_path: str, persona_id: str | None, allow_overwrite: bool
    ) -> Call[TemplateApplied]:
        body = self.persona_fields(
            persona_id, template_path=template_path, allow_overwrite=allow_overwrite
        )
        return post("/persona/create_from_template", result(TemplateApplied), body)

    def persona_list(self) -> Call[list[Persona]]:
        return get("/persona/list", records(Persona))

    def persona_profile(self, persona_id: str | None) -> Call[PersonaProfile]:
        return get("/persona/profile", result(PersonaProfile), self.persona_fields(persona_id))

    def slots(self, persona_id: str | None) -> Call[list[Slot]]:
        return post("/persona/slots/get", records(Slot), self.persona_fields(persona_id))

    def persona_delete(self, persona_id: str) -> Call[Result]:
        # Naming it is the confirmation: this call has no default persona.
        return post(
            "/persona/delete", result(Result), self.persona_fields(persona_id, confirm=persona_id)
        )

    def erase_user(self, user_id: str) -> Call[Result]:
        return post("/user/erase", result(Result), {"confirm": user_id})

    def import_card(
        self, source: CardSource, persona_id: str | None, allow_overwrite: bool, memories: bool
    ) -> Call[CardImported]:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
        return Call(
            method="POST",
            path="/persona/import_card",
            read=result(CardImported),
            params=self.persona_fields(
                persona_id, allow_overwrite=allow_overwrite, memories=memories
            ),
            content=content,
            content_type="application/octet-stream",
        )

    def export_card(
        self, persona_id: str | None, file_format: CardFormat, memories: bool
    ) -> Call[bytes]:
        params = self.persona_fields(persona_id, format=file_format, memories=memories)
        return get("/persona/export_card", file, params)

    def goal_create(
        self, title: str, details: str | None, persona_id: str | None
    ) -> Call[GoalCreated]:
        body = self.persona_fields(persona_id, title=title, details=details)
        return post("/goals/create", result(GoalCreated), body)

    def goals(self, status: str | None, persona_id: str | None) -> Call[list[Goal]]:
        return get("/goals/list", records(Goal), self.persona_fields(persona_id, status=status))

    def goal_update_status(
        self, goal_id: int, status: str, persona_id: str | None
    ) -> Call[Changed]:
        body = self.persona_fields(persona_id, goal_id=goal_id, status=status)
        return post("/goals/update_status", result(Changed), body)

    def goal_link(
        self, goal_id: int, memory_id: int | None, note: str | None, persona_id: str | None
    ) -> Call[GoalLinked]:
        body = self.persona_fields(persona_id, goal_id=goal_id, memory_id=memory_id, note=note)
        return post("/goals/link", result(GoalLinked), body)
