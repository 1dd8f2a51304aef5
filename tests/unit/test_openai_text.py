"""Changes inside JSON keep every byte that is not meant."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.http.doors.openai.injection import InjectionPoint, inject_memory
from plastic_memories.http.doors.openai.json_splice import (
    apply_edits,
    array_elements,
    insertion_edit,
    object_members,
    replace_members,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=3), values, max_size=5)
roles = st.sampled_from(["system", "developer", "user", "assistant", "tool", "odd"])
contents = st.text(min_size=1, max_size=8) | st.none() | st.just([{"type": "text", "text": "part"}])
messages = st.lists(
    st.builds(lambda role, content: {"role": role, "content": content}, roles, contents)
)
spaces = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])


@pytest.mark.parametrize(
    "kept",
    [
        '"seed": 1e400',
        '"seed": 0.1234567890123456789012345',
        '"seed": [1.0, 1E5, 0.10, -0]',
        '"stop": 1, "stop": 2',
        r'"user": "\u00e9\/\ud83d"',
    ],
)
def test_what_json_would_spell_otherwise_keeps_its_bytes(kept: str) -> None:
    text = f'{{"model": "a", {kept}}}'
    assert json.dumps(json.loads(text), ensure_ascii=False) != text

    changed = replace_members(text, object_members(text), {"model": '"b"'})

    assert changed == f'{{"model": "b", {kept}}}'


@given(objects, spaces, st.booleans())
def test_what_is_read_is_what_json_says(
    value: dict[str, Any], separators: tuple[str, str], plain: bool
) -> None:
    text = json.dumps(value, separators=separators, ensure_ascii=plain)

    assert {part.key: part.value for part in object_members(text)} == value


@given(objects, spaces, st.data())
def test_a_change_changes_only_its_member(
    value: dict[str, Any], separators: tuple[str, str], data: st.DataObject
) -> None:
    text = json.dumps(value, separators=separators)
    names = st.sampled_from(sorted(value)) if value else st.nothing()
    changed = set(data.draw(st.lists(names, unique=True)) if value else ())
    removed = set(data.draw(st.lists(names, unique=True)) if value else ()) - changed
    changes: dict[str, str | None] = {**dict.fromkeys(changed, "7"), **dict.fromkeys(removed)}

    result = replace_members(text, object_members(text), changes)

    expected = {k: 7 if k in changed else v for k, v in value.items() if k not in removed}
    assert json.loads(result) == expected
    for part in object_members(text):
        if part.key not in changes:
            assert text[part.member_start : part.end] in result


@given(st.lists(values, min_size=1, max_size=4), st.integers(0, 6), spaces)
def test_an_insert_moves_and_changes_nothing(
    value: list[Any], place: int, separators: tuple[str, str]
) -> None:
    text = json.dumps(value, separators=separators)

    result = apply_edits(text, [insertion_edit(array_elements(text), place, '"new"')])

    value.insert(place, "new")
    assert json.loads(result) == value


NO_OBJECTS = ["", "[]", "7", "{", '{"a"}', '{"a":}', '{"a":1,}', "{,}", '{"a":1}}', "{} x", "{a:1}"]


@pytest.mark.parametrize("text", NO_OBJECTS)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        object_members(text)


places = st.builds(
    InjectionPoint,
    st.sampled_from(["before_last_user", "depth", "system"]),
    st.integers(0, 9),
    st.sampled_from(["system", "user"]),
)


@given(messages, places, spaces, st.sampled_from(["", "STABLE"]), st.sampled_from(["", "TURN"]))
def test_blocks_are_added_and_every_message_stays(
    sent: list[dict[str, Any]],
    place: InjectionPoint,
    separators: tuple[str, str],
    stable: str,
    turn: str,
) -> None:
    text = json.dumps(sent, separators=separators)

    result = json.loads(inject_memory(text, stable, turn, place))

    assert str(result).count("STABLE") == bool(stable)
    has_user = any(one["role"] == "user" for one in sent)
    if has_user:
        assert str(result).count("TURN") == bool(turn)
    ours = [one for one in result if one["content"] in ("STABLE", "TURN", "STABLE\n\nTURN")]
    others = [one for one in result if one not in ours]
    assert [one["role"] for one in others] == [one["role"] for one in sent]
    changed = [old for old, new in zip(sent, others, strict=True) if old != new]
    assert len(changed) <= 1
    assert all(one["role"] in ("system", "developer") for one in changed)


@given(messages, st.integers(0, 9))
def test_nothing_parts_a_call_from_its_answer(sent: list[dict[str, Any]], depth: int) -> None:
    result = json.loads(inject_memory(json.dumps(sent), "", "TURN", InjectionPoint("depth", depth)))

    after = [two["role"] for one, two in pairwise(result) if one["content"] == "TURN"]
    assert "tool" not in after or sent[0]["role"] == "tool"
