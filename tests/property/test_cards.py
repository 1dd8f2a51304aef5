"""Whatever a card holds, it comes out as it went in."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cards import as_png, pixels, v2
from plastic_memories.errors import TemplateError
from plastic_memories.formats.card_memories import card_drafts
from plastic_memories.formats.character_card import read_card, write_card
from plastic_memories.formats.png import parse_png

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=30)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    st.sampled_from(["description", "extensions", "character_book", "tags", "first_mes", "新"])
    | TEXT,
    JSON,
    max_size=6,
).filter(lambda fields: "name" not in fields)
ROWS = st.lists(st.dictionaries(TEXT, LEAVES, max_size=3), max_size=3)


@given(FIELDS, st.sampled_from([None, 1, 4]))
def test_a_card_is_written_as_it_came(fields: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(v2(**fields), indent=indent, ensure_ascii=indent == 4).encode()

    card, rows = read_card(text)

    assert rows == []
    assert write_card(card, "json", None) == text
    assert write_card(read_card(write_card(card, "png", None))[0], "json", None) == text


@given(FIELDS, ROWS)
def test_a_bundle_gives_back_card_rows_and_pixels(
    fields: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    came = as_png(v2(**fields))

    bundle = write_card(read_card(came)[0], "png", rows)
    back, found = read_card(bundle)

    assert list(found) == rows
    assert back.document == v2(**fields)
    assert pixels(bundle) == pixels(came)


@given(FIELDS)
def test_every_card_becomes_rows_that_can_be_stored(fields: dict[str, Any]) -> None:
    drafts = card_drafts(read_card(json.dumps(v2(**fields)).encode())[0])

    keys = [(draft.type, draft.key) for draft in drafts]
    assert len(set(keys)) == len(keys)
    for draft in drafts:
        assert draft.content.strip()
        assert draft.key.isprintable() or not set(draft.key) & set("\x00\n\r")


@given(st.binary(max_size=200), st.integers(0, 400))
def test_a_damaged_picture_is_refused_or_read_and_nothing_else(junk: bytes, place: int) -> None:
    whole = as_png(v2())
    raw = whole[:place] + junk + whole[place + len(junk) :]

    try:
        read_card(raw)
    except TemplateError:
        return
    assert parse_png(raw).chunks[-1].kind == b"IEND" or not raw.startswith(b"\x89PNG")
