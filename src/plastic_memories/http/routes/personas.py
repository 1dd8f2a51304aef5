"""Routes under /persona, and /user/settings."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from plastic_memories.http.caller_context import ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.personas.templates import TemplateOutcome
from plastic_memories.model.owner import Owner
from plastic_memories.model.persona import Persona, Slot, Template, UserSettings
from plastic_memories.rules.lifecycle.slot_values import slot_text, upgrade_slot
from plastic_memories.wire import personas as wire
from plastic_memories.wire.fields import BotRequest

_CARD_MEDIA_TYPES = {"png": "image/png", "json": "application/json"}
_FILE_SCHEMA = {"type": "string", "format": "binary", "minLength": 1}
router = Routes(keyed_endpoint, tags=["personas"], responses=FAILURES)


@router.post("/persona/create", answers=wire.CreatePersonaResponse)
async def create(body: wire.CreatePersonaRequest, call: WriteCall) -> Response:
    """Create a persona, or change the given fields."""
    call.check_length(body.description, "description")
    persona, created = await call.hub.personas.create(
        call.caller, call.owner(body.persona_id), body.display_name, body.description
    )
    answer = wire.CreatePersonaResponse(status="ok", created=created, persona=_persona_row(persona))
    return call.reply(answer)


@router.post("/persona/create_from_template", answers=wire.ApplyTemplateResponse)
async def create_from_template(body: wire.ApplyTemplateRequest, call: WriteCall) -> Response:
    """Apply a template's persona, rules and preferences, all or none."""
    owner = call.owner(body.persona_id)
    template, applied = await call.hub.personas.apply_template(
        call.caller, owner, body.template_path, overwrite=body.allow_overwrite
    )
    return call.reply(wire.ApplyTemplateResponse(**_template_fields(owner, template, applied)))


def _template_fields(owner: Owner, template: Template, applied: TemplateOutcome) -> dict[str, Any]:
    return {
        "status": "ok",
        "user_id": owner.user_id,
        "persona_id": owner.persona_id,
        "template_path": template.path,
        "applied": list(applied.applied),
        "skipped": list(applied.skipped),
        "overwritten": list(applied.overwritten),
        "seed": wire.TemplateSeedRow(
            persona_md_len=len(template.persona_md),
            rules_md_len=len(template.rules_md),
            preferences_keys=sorted(template.preferences),
        ),
    }


@router.post(
    "/persona/import_card",
    answers=wire.ImportCardResponse,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "image/png": {"schema": _FILE_SCHEMA},
                "application/json": {"schema": {"type": "object"}},
            },
        }
    },
)
async def import_card(query: wire.ImportCardQuery, call: WriteCall) -> Response:
    """Create a persona from a character card: the body is the file, PNG or JSON."""
    owner = call.owner(query.persona_id)
    imported = await call.hub.cards.import_card(
        call.caller,
        owner,
        await call.request.body(),
        overwrite=query.allow_overwrite,
        memories=query.memories,
    )
    card, report = imported.template.card, imported.report
    assert card is not None
    answer = wire.ImportCardResponse(
        **_template_fields(owner, imported.template, imported.applied),
        name=card.name,
        spec=card.spec,
        memories=wire.CardImportRow(
            bundled=imported.bundled,
            counts=dict(report.counts),
            conflicts=[dict(conflict) for conflict in report.conflicts],
            skipped=[dict(skip) for skip in report.skipped],
        ),
    )
    return call.reply(answer)


@router.get(
    "/persona/export_card",
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in _CARD_MEDIA_TYPES.values()}}},
)
async def export_card(query: wire.ExportCardQuery, call: ReadCall) -> Response:
    """Export a persona as a character card; with `memories`, all its memories are included."""
    name, content = await call.hub.cards.export_card(
        call.caller, call.owner(query.persona_id), query.format, memories=query.memories
    )
    file = quote(f"{name}.{query.format}", safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
    return Response(content, media_type=_CARD_MEDIA_TYPES[query.format], headers=headers)


@router.get("/persona/list", answers=wire.PersonaListResponse)
async def list_personas(call: ReadCall) -> Response:
    """Return the user's personas, oldest first."""
    bound = call.caller.key.limits.persona_id
    found = await call.hub.personas.list_personas(call.caller.user)
    items = [_persona_row(one) for one in found if bound in ("", one.owner.persona_id)]
    return call.reply(wire.PersonaListResponse(items=items))


@router.get("/persona/profile", answers=wire.ProfileResponse)
async def profile(query: BotRequest, call: ReadCall) -> Response:
    """Return the persona and what it knows about the user, as Markdown."""
    text = await call.hub.personas.profile(call.view(query))
    answer = wire.ProfileResponse(
        user_id=call.caller.user.user_id, persona_id=query.persona_id, profile_markdown=text
    )
    return call.reply(answer)


@router.post("/persona/slots/get", answers=wire.SlotListResponse)
async def slots(body: wire.GetSlotsRequest, call: ReadCall) -> Response:
    """Return the persona's slots."""
    found = await call.hub.personas.slots(call.view(body, realm=body.realm))
    return call.reply(wire.SlotListResponse(items=[_slot_row(slot) for slot in found]))


@router.post("/persona/delete", answers=wire.DeletePersonaResponse)
async def delete(body: wire.DeletePersonaRequest, call: WriteCall) -> Response:
    """Erase a persona with everything it holds."""
    receipt = await call.hub.personas.delete(call.caller, call.owner(body.persona_id), body.confirm)
    answer = wire.DeletePersonaResponse(
        status="ok", persona_id=body.persona_id, receipt=dict(receipt)
    )
    return call.reply(answer)


@router.get("/user/settings", answers=wire.SettingsResponse)
async def settings(call: ReadCall) -> Response:
    """Return the user's settings."""
    return call.reply(_settings_response(await call.hub.personas.settings(call.caller.user)))


@router.post("/user/settings", answers=wire.SettingsResponse)
async def save_settings(body: wire.SaveSettingsRequest, call: WriteCall) -> Response:
    """Change the given settings."""
    saved = await call.hub.personas.save_settings(call.caller, body.time_zone, body.language)
    return call.reply(_settings_response(saved))


@router.post("/user/erase", answers=wire.EraseUserResponse)
async def erase_user(body: wire.EraseUserRequest, call: WriteCall) -> Response:
    """Erase everything of the user, every persona, in every store, with a receipt."""
    receipt = await call.hub.erase_user(call.caller, body.confirm)
    answer = wire.EraseUserResponse(
        status="ok", user_id=call.caller.user.user_id, receipt=dict(receipt)
    )
    return call.reply(answer)


def _persona_row(persona: Persona) -> wire.PersonaRow:
    return wire.PersonaRow(
        persona_id=persona.owner.persona_id,
        display_name=persona.display_name,
        description=persona.description,
        created_at=persona.created_at,
        updated_at=persona.updated_at,
    )


def _slot_row(stored: Slot) -> wire.SlotRow:
    slot = upgrade_slot(stored)
    return wire.SlotRow(
        slot_name=slot.slot_name,
        value=slot_text(slot.value),
        provenance=dict(slot.provenance),
        updated_at=slot.updated_at,
        value_json=json.dumps(slot.value, ensure_ascii=False),
        provenance_json=json.dumps(dict(slot.provenance), ensure_ascii=False),
    )


def _settings_response(settings: UserSettings) -> wire.SettingsResponse:
    return wire.SettingsResponse(
        user_id=settings.user.user_id,
        time_zone=settings.time_zone,
        language=settings.language,
        updated_at=settings.updated_at,
    )
