"""What a slot says, in the shape of the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.model.memory import MemoryType, Status
from plastic_memories.rules.lifecycle.slot_values import build_slot, upgrade_slot
from plastic_memories.testing.samples import memory


def slot_memory(number: int, text: str, supersedes_id: int | None = None) -> Any:
    made = memory(text, type=MemoryType.PREFERENCES, status=Status.ACTIVE)
    return replace(made, id=number, supersedes_id=supersedes_id)


def test_one_value_is_an_object_with_its_text() -> None:
    slot = build_slot([slot_memory(2, "tea", 1)], 0.0)

    assert slot is not None
    assert slot.value == {"text": "tea"}
    assert slot.provenance["superseded"] == 1


def test_several_values_are_a_list_of_such_objects() -> None:
    slot = build_slot([slot_memory(2, "tea", 1), slot_memory(3, "rain")], 0.0)

    assert slot is not None
    assert slot.value == [{"text": "tea"}, {"text": "rain"}]
    assert slot.provenance["superseded"] is None


@pytest.mark.parametrize(
    ("value", "superseded", "wanted"),
    [
        ("tea", [], ({"text": "tea"}, None)),
        (["tea", "rain"], [1, 2], ([{"text": "tea"}, {"text": "rain"}], 2)),
        ({"text": "tea"}, 7, ({"text": "tea"}, 7)),
    ],
)
def test_a_slot_stored_by_an_earlier_release_is_told_in_the_same_shape(
    value: Any, superseded: Any, wanted: tuple[Any, Any]
) -> None:
    slot = build_slot([slot_memory(1, "tea")], 0.0)
    assert slot is not None

    told = upgrade_slot(replace(slot, value=value, provenance={"superseded": superseded}))

    assert (told.value, told.provenance["superseded"]) == wanted
