"""Convert a character card to memory drafts, and a persona's memories to a card."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.card import Card
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType
from plastic_memories.model.persona import Persona, Template

CARD_SOURCE_PREFIX = "card:"
_HAN = regex(r"[\u4e00-\u9fff]")
_CONTROL = regex(r"[\x00-\x1f\x7f]+")
# Long texts become several rows, because a prompt's budget is filled row by row.
_MAX_PIECE_CHARS = 1500
_MAX_TEXT_CHARS = 16_000
_MAX_TAGS, _MAX_TAG_CHARS, _MAX_KEY_CHARS = 50, 200, 120
# Field → (key, English heading, Chinese heading).
_PERSONA_FIELDS = {
    "description": ("persona", "", ""),
    "personality": ("persona.personality", "Personality", "性格"),
    "scenario": ("persona.scenario", "Scenario", "场景"),
    "mes_example": ("persona.examples", "How they talk", "说话方式"),
}
_RULE_FIELDS = {"system_prompt": "rules", "post_history_instructions": "rules.post_history"}
_LORE_ENTRY_FIELDS = (
    "name", "comment", "constant", "selective", "insertion_order", "priority", "position",
    "case_sensitive", "use_regex", "secondary_keys",
)  # fmt: skip


def card_source_ref(card: Card) -> str:
    """Return the source reference of a card's rows: a digest of its file."""
    return f"{CARD_SOURCE_PREFIX}{hashlib.sha256(card.original).hexdigest()[:16]}"


def is_from_card(memory: Memory) -> bool:
    """Return whether a memory came from a character card."""
    return memory.source_ref.startswith(CARD_SOURCE_PREFIX)


def card_template(path: str, card: Card) -> Template:
    """Return a card as a persona template."""
    drafts = card_drafts(card)
    texts = {
        kind: "\n\n".join(draft.content for draft in drafts if draft.type is kind)
        for kind in (MemoryType.PERSONA, MemoryType.RULE)
    }
    return Template(path, texts[MemoryType.PERSONA], texts[MemoryType.RULE], {}, card)


def card_drafts(card: Card) -> list[Draft]:
    """Return the drafts of a card. Fields that are no part of the prompt stay in the card alone."""
    drafts = [*_persona_drafts(card), *_rule_drafts(card), *_lore_drafts(card)]
    # Once for all: the digest reads the whole file.
    source_ref = card_source_ref(card)
    return [replace(draft, source_ref=source_ref) for draft in drafts]


def _persona_drafts(card: Card) -> Iterator[Draft]:
    chinese = bool(_HAN.search(_text_field(card.fields, "description") or card.name))
    for field, (key, english, han) in _PERSONA_FIELDS.items():
        heading = han if chinese else english
        text = _text_field(card.fields, field)
        for number, piece in enumerate(split_paragraphs(text), start=1):
            titled = f"**{heading}**\n{piece}" if heading and number == 1 else piece
            yield _draft(MemoryType.PERSONA, _numbered_key(key, number), titled)


def _rule_drafts(card: Card) -> Iterator[Draft]:
    for field, key in _RULE_FIELDS.items():
        for number, piece in enumerate(split_paragraphs(_text_field(card.fields, field)), start=1):
            yield _draft(MemoryType.RULE, _numbered_key(key, number), piece)


def _lore_drafts(card: Card) -> Iterator[Draft]:
    for number, entry in enumerate(_lore_entries(card), start=1):
        if not isinstance(entry, dict) or entry.get("enabled") is False:
            continue
        content = _text_field(entry, "content")
        if content:
            words = [*_text_items(entry.get("keys")), *_text_items(entry.get("secondary_keys"))]
            name = _text_field(entry, "name") or _text_field(entry, "comment") or "".join(words[:1])
            yield _draft(
                MemoryType.GLOSSARY,
                f"card.{number}.{_CONTROL.sub(' ', name)[:_MAX_KEY_CHARS]}".rstrip("."),
                content,
                tags=tuple(dict.fromkeys(words))[:_MAX_TAGS],
                # A card always puts a constant entry into the prompt, so it is always recalled.
                pinned=entry.get("constant") is True,
                attributes={"card_entry": _lore_entry_metadata(entry)},
            )


def lore_entry_count(card: Card) -> int:
    return len(_lore_entries(card))


def _lore_entries(card: Card) -> Sequence[Any]:
    book = card.fields.get("character_book")
    return _as_list(book.get("entries") if isinstance(book, dict) else None)


def _lore_entry_metadata(entry: Mapping[str, Any]) -> dict[str, Any]:
    small = (str, int, float, bool)
    return {
        name: entry[name][:_MAX_TAG_CHARS] if isinstance(entry[name], str) else entry[name]
        for name in _LORE_ENTRY_FIELDS
        if name in entry and isinstance(entry[name], small)
    }


def _draft(kind: MemoryType, key: str, content: str, **more: Any) -> Draft:
    return Draft(
        type=kind,
        key=key,
        content=content,
        source_type=SourceType.IMPORTED,
        **more,
    )


def split_paragraphs(text: str) -> list[str]:
    """Split a long text between paragraphs; cut a paragraph that is too long anywhere."""
    found: list[str] = []
    paragraphs = (
        whole[start : start + _MAX_TEXT_CHARS]
        for whole in re.split(r"\n[^\S\n]*\n", text)
        for start in range(0, len(whole), _MAX_TEXT_CHARS)
    )
    for paragraph in paragraphs:
        if found and len(found[-1]) + len(paragraph) <= _MAX_PIECE_CHARS:
            found[-1] += f"\n\n{paragraph}"
        elif paragraph.strip():
            found.append(paragraph)
    return found


def _numbered_key(key: str, number: int) -> str:
    return key if number == 1 else f"{key}.{number}"


def _text_field(fields: Mapping[str, Any], name: str) -> str:
    """Return a text field that a database can store: no null characters, no surrogates."""
    value = fields.get(name)
    if not isinstance(value, str):
        return ""
    whole = value.encode("utf-8", "replace").decode().replace("\x00", "")
    return whole.replace("\r\n", "\n").strip()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text_items(value: Any) -> list[str]:
    found = (_text_field({"word": word}, "word")[:_MAX_TAG_CHARS] for word in _as_list(value))
    return [word for word in found if word]


def card_document(persona: Persona, rows: Sequence[Memory]) -> dict[str, Any]:
    """Return a version 3 card for a persona that was not created from a card."""
    of = {kind: [row for row in rows if row.type is kind] for kind in MemoryType}
    fields: dict[str, Any] = {
        "name": persona.display_name or persona.owner.persona_id,
        "description": _join_rows(persona.description, of[MemoryType.PERSONA]),
        "tags": [],
        "creator": "",
        "character_version": "",
        "mes_example": "",
        "extensions": {},
        "system_prompt": _join_rows("", of[MemoryType.RULE]),
        "post_history_instructions": "",
        "first_mes": "",
        "alternate_greetings": [],
        "personality": "",
        "scenario": "",
        "creator_notes": "",
        "group_only_greetings": [],
    }
    if of[MemoryType.GLOSSARY]:
        entries = [_lore_entry(row, place) for place, row in enumerate(of[MemoryType.GLOSSARY])]
        fields["character_book"] = {"extensions": {}, "entries": entries}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": fields}


def _join_rows(first: str, rows: Sequence[Memory]) -> str:
    ordered = sorted(rows, key=lambda row: row.id)
    return "\n\n".join(text for text in (first, *(row.content for row in ordered)) if text)


def _lore_entry(row: Memory, place: int) -> dict[str, Any]:
    return {
        "keys": list(row.tags) or [row.key],
        "content": row.content,
        "extensions": {},
        "enabled": True,
        "insertion_order": place,
        "use_regex": False,
        "constant": row.pinned,
        "name": row.key,
    }
