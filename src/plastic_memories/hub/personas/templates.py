"""Write a template or character card into a persona."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.formats.card_memories import card_drafts, is_from_card
from plastic_memories.formats.character_card import read_card, rewrite_card
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import active_with_key, add_replacing
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.card import Card
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.persona import Template
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.transitions import end_memory, memory_from_draft
from plastic_memories.runtime.pacing import sleep_proportionally

# One transaction holds up every other writer: it ends after so many rows, or so long.
_SLICE_ROWS = 200
_SLICE_S = 0.05
_REST = 0.5
_CARD = "card"
_NAME_CHARS = 200
_PREFERENCES_ZH = {
    "reply_language": "回答用的语言",
    "reply_length": "回答的长短",
    "reply_style": "说话的方式",
    "emoji": "表情",
    "quiet_hours": "安静的时段",
    "out_of_character": "出戏的标记",
    "pacing": "节奏",
}
_CARD_TYPES = {MemoryType.PERSONA, MemoryType.RULE, MemoryType.GLOSSARY}


@dataclass(frozen=True, slots=True)
class TemplateOutcome:
    """Which rows of a template were added, skipped, or overwritten."""

    applied: Sequence[str]
    skipped: Sequence[str]
    overwritten: Sequence[str]

    def extended_by(self, part: TemplateOutcome) -> TemplateOutcome:
        return TemplateOutcome(
            [*self.applied, *part.applied],
            [*self.skipped, *part.skipped],
            [*self.overwritten, *part.overwritten],
        )


@dataclass(frozen=True, slots=True)
class TemplatePlan:
    """The screened rows that a template would write."""

    drafts: Sequence[Draft]
    card: Card | None = None
    name: str = ""


def template_plan(template: Template, screening: Screening) -> TemplatePlan:
    """Return the rows a template would write; raise `Rejected` if one must not be stored."""
    if template.card is None:
        return TemplatePlan([screening.screen_draft(draft) for draft in _template_drafts(template)])
    card, _ = read_card(rewrite_card(template.card.original, screening.screen_values))
    drafts = [screening.screen_draft(draft) for draft in card_drafts(card)]
    return TemplatePlan(drafts, card, screening.screen_text(card.name)[:_NAME_CHARS])


async def apply_in_slices(
    storage: AuditedStorage, caller: Caller, owner: Owner, plan: TemplatePlan, *, overwrite: bool
) -> TemplateOutcome:
    """Write a plan's rows in short transactions; existing rows stay unless `overwrite`.

    It may be repeated after a failure: rows that are there are skipped, or overwritten again.
    """
    now = storage.clock.now()
    outcome = TemplateOutcome([], [], [])
    done = 0
    while True:
        started = time.monotonic()
        application = _PlanApplication(owner, plan, now, overwrite)
        done, part = await storage.write(partial(application.write_slice, start=done))
        outcome = outcome.extended_by(part)
        if done == len(plan.drafts):
            break
        await sleep_proportionally(started, _REST)
    card = await storage.write(lambda stores: application.write_card(stores, caller))
    return outcome.extended_by(card)


@dataclass(frozen=True, slots=True)
class _PlanApplication:
    owner: Owner
    plan: TemplatePlan
    now: float
    overwrite: bool

    def write_slice(self, stores: Stores, start: int) -> tuple[int, TemplateOutcome]:
        """Write rows from `start` on; return where the next slice begins, and what was done."""
        stores.personas.ensure(self.owner, self.now)
        outcome: dict[str, list[str]] = {"applied": [], "skipped": [], "overwritten": []}
        ends_at = time.perf_counter() + _SLICE_S
        place = start
        while place < len(self.plan.drafts):
            draft = self.plan.drafts[place]
            new = memory_from_draft(self.owner, draft, self.now, Status.ACTIVE)
            result = _apply_row(stores, new, self.now, overwrite=self.overwrite)
            outcome[result].append(f"{draft.type}:{draft.key}")
            place += 1
            if place - start >= _SLICE_ROWS or time.perf_counter() > ends_at:
                break
        return place, TemplateOutcome(**outcome)

    def write_card(self, stores: Stores, caller: Caller) -> TemplateOutcome:
        """Store the card after its rows, and record that the template was applied."""
        outcome: dict[str, list[str]] = {"applied": [], "skipped": [], "overwritten": []}
        if self.plan.card is not None:
            if self.overwrite:
                _end_previous_card(stores, self.owner, self.plan, self.now)
            stored = _store_card(stores, self.owner, self.plan, self.now, overwrite=self.overwrite)
            outcome[stored].append(_CARD)
        record_event(stores, caller, "persona.template", self.owner.persona_id, self.now)
        return TemplateOutcome(**outcome)


def _apply_row(stores: Stores, new: Memory, now: float, *, overwrite: bool) -> str:
    existing = active_with_key(stores, new)
    if existing and not overwrite:
        return "skipped"
    add_replacing(stores, new, existing, now)
    return "overwritten" if existing else "applied"


def _store_card(
    stores: Stores, owner: Owner, plan: TemplatePlan, now: float, *, overwrite: bool
) -> str:
    """Store the card itself, and adopt its name."""
    assert plan.card is not None
    persona = stores.personas.get(owner)
    assert persona is not None
    if plan.name and (overwrite or not persona.display_name):
        stores.personas.save(replace(persona, display_name=plan.name, updated_at=now))
    existing = stores.cards.get(owner)
    if existing is not None and not overwrite:
        return "skipped"
    stores.cards.put(owner, plan.card.original, now)
    return "applied" if existing is None else "overwritten"


def _end_previous_card(stores: Stores, owner: Owner, plan: TemplatePlan, now: float) -> None:
    """End the rows of an earlier card that this card lacks: the persona is another one now."""
    current = {(draft.type, draft.key) for draft in plan.drafts}
    wanted = MemoryFilter(statuses={Status.ACTIVE}, types=_CARD_TYPES)
    for row in stores.memories.find(owner, wanted):
        if is_from_card(row) and (row.type, row.key) not in current:
            stores.memories.save(end_memory(row, now))


def _template_drafts(template: Template) -> list[Draft]:
    drafts = [_template_draft(template, MemoryType.PERSONA, "persona", template.persona_md)]
    if template.rules_md.strip():
        drafts.append(_template_draft(template, MemoryType.RULE, "rules", template.rules_md))
    for name, value in template.preferences.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        key = f"preference.{name}"
        content = _preference_sentence(name, text)
        drafts.append(_template_draft(template, MemoryType.PROFILE, key, content))
    return drafts


def _preference_sentence(name: str, text: str) -> str:
    """Return a preference as people read it.

    >>> _preference_sentence("reply_style", "口语、温暖")
    '说话的方式：口语、温暖'
    >>> _preference_sentence("code_style", "complete and runnable")
    'Code style: complete and runnable'
    """
    if majority_language([text]) == "zh":
        return f"{_PREFERENCES_ZH.get(name, name.replace('_', ' '))}：{text}"
    return f"{name.replace('_', ' ').capitalize()}: {text}"


def _template_draft(template: Template, kind: MemoryType, key: str, content: str) -> Draft:
    return Draft(
        type=kind,
        key=key,
        content=content,
        source_type=SourceType.IMPORTED,
        source_ref=f"template:{template.path}",
    )
