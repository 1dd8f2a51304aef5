"""A field of a memory reaches every place that shows, takes or carries memories."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from plastic_memories.formats.export_lines import memory_from_line, memory_line
from plastic_memories.model.memory import BASE_FIELDS, Draft, Memory
from plastic_memories.testing.samples import MINE, NOW
from plastic_memories.testing.storage.memory_stores import FULL
from plastic_memories.wire.memories import MemoryBody, MemoryRow, memory_row_fields

DRAFT_FIELDS = {field.name for field in fields(Draft)}
MEMORY_FIELDS = {field.name for field in fields(Memory)}
# A branch is opened by a request of its own.
NOT_SENT = {"branch_id"}
# Persona and key stand under other names too; the rest is of use to the hub alone.
NOT_SHOWN = {"owner", "root_id", "idempotency_key", "told_to"}
ONLY_SHOWN = {"persona_id", "mkey"}
# How long it lives is said in two ways, `temporary` stores nothing, and the rest names a session.
ONLY_SENT = {"ttl_seconds", "temporary", "platform", "message_type"}
SAMPLE = replace(FULL, id=7, root_id=3, source_message_ids=(5,), supersedes_id=3)


def test_every_field_of_a_draft_can_be_sent() -> None:
    assert set(MemoryBody.model_fields) == (DRAFT_FIELDS - NOT_SENT) | ONLY_SENT


def test_every_field_of_a_memory_is_shown() -> None:
    assert set(MemoryRow.model_fields) == (MEMORY_FIELDS - NOT_SHOWN) | ONLY_SHOWN
    assert set(memory_row_fields(SAMPLE)) == set(MemoryRow.model_fields)


@pytest.mark.parametrize("name", sorted(DRAFT_FIELDS - NOT_SENT))
def test_what_is_sent_is_drafted(name: str) -> None:
    sent = {name: memory_row_fields(SAMPLE).get(name, getattr(SAMPLE, name))}

    draft = MemoryBody.model_validate({"type": "fact", "key": "k", "content": "x", **sent})

    assert getattr(draft.to_draft(NOW), name) == getattr(SAMPLE, name)


def test_what_is_not_sent_is_as_a_draft_has_it() -> None:
    sent = {"type": "fact", "key": "k", "content": "x"}

    draft = MemoryBody.model_validate({**sent, "speaker": None}).to_draft(NOW)

    assert draft == Draft(**sent)


@pytest.mark.parametrize("name", sorted(set(BASE_FIELDS) - {"idempotency_key"}))
def test_an_export_carries_every_field(name: str) -> None:
    back = memory_from_line(memory_line(SAMPLE), MINE, NOW)

    assert getattr(SAMPLE, name), "the sample says something of every field"
    assert getattr(back, name) == getattr(SAMPLE, name)
