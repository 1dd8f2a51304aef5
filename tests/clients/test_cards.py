"""Character cards between the hub and SillyTavern's own reader and writer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cards import as_json, as_png, pixels, v2, v3
from plastic_memories.formats.character_card import read_card, write_card
from plastic_memories.model.card import Card

pytestmark = pytest.mark.external

ROWS = [{"kind": "memory", "type": "fact", "key": "k", "content": "他养了一只猫"}]
# What SillyTavern does with a card that is imported, edited and exported.
SCRIPT = """
import fs from 'node:fs';
const { read, write } = await import(process.argv[2]);
const [, , , from, to] = process.argv;
const card = JSON.parse(read(fs.readFileSync(from)));
card.data.creator_notes = 'edited in SillyTavern';
fs.writeFileSync(to, write(fs.readFileSync(from), JSON.stringify(card)));
"""


@pytest.fixture
def through_sillytavern(clients: Path, tmp_path: Path) -> Any:
    parser = clients / "sillytavern/node_modules/sillytavern/src/character-card-parser.js"
    script = tmp_path / "edit.mjs"
    script.write_text(SCRIPT, encoding="utf-8")

    def edit(card: bytes) -> bytes:
        before, after = tmp_path / "before.png", tmp_path / "after.png"
        before.write_bytes(card)
        command = ["node", str(script), parser.as_uri(), str(before), str(after)]
        subprocess.run(command, check=True, timeout=60, capture_output=True)
        return after.read_bytes()

    return edit


def card_of(raw: bytes) -> Card:
    return read_card(raw)[0]


@pytest.mark.parametrize(
    "card",
    [as_png(v2()), as_png(v3(), b"ccv3"), as_json(v2()), as_json(v3())],
    ids=["v2 png", "v3 png", "v2 json", "v3 json"],
)
def test_a_bundle_survives_an_edit_in_sillytavern(card: bytes, through_sillytavern: Any) -> None:
    bundle = write_card(card_of(card), "png", ROWS)

    edited = through_sillytavern(bundle)
    back, rows = read_card(edited)

    assert rows == ROWS
    assert pixels(edited) == pixels(bundle)
    known = {**card_of(card).fields, "creator_notes": "edited in SillyTavern"}
    assert back.fields == json.loads(json.dumps(known))
    assert b"plastic_memories" not in write_card(back, "json", None)


def test_a_card_of_our_own_making_is_read_by_sillytavern(through_sillytavern: Any) -> None:
    made = write_card(Card(as_json(v3()), v3()), "png", None)

    assert card_of(through_sillytavern(made)).name == "Aquie"
