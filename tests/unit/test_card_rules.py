"""Cards as files: nothing is lost, nothing hostile gets in."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest

from cards import as_json, as_png, inside, pixels, v1, v2, v3
from plastic_memories.errors import TemplateError
from plastic_memories.formats.card_memories import card_drafts, split_paragraphs
from plastic_memories.formats.character_card import read_card, write_card
from plastic_memories.formats.png import SIGNATURE, Chunk, PngFile, blank_png, parse_png
from plastic_memories.model.memory import MemoryType

ROWS = [{"kind": "memory", "type": "fact", "key": "k", "content": "记得"}]


@pytest.mark.parametrize("card", [v1(), v2(), v3()], ids=["v1", "v2", "v3"])
def test_a_card_is_written_as_it_came(card: dict[str, object]) -> None:
    keyword = b"ccv3" if card.get("spec") == "chara_card_v3" else b"chara"
    text, picture = as_json(card), as_png(card, keyword)

    from_json, from_png = read_card(text)[0], read_card(picture)[0]

    assert write_card(from_json, "json", None) == text
    assert write_card(from_png, "png", None) == picture
    assert write_card(from_png, "json", None) == text
    assert inside(write_card(from_json, "png", None), keyword) == text


@pytest.mark.parametrize("card", [v1(), v2(), v3(), v2(extensions=None)])
def test_memories_go_in_and_come_out_and_leave_no_trace(card: dict[str, object]) -> None:
    came, _ = read_card(as_json(card))

    bundle = write_card(came, "png", ROWS)
    back, rows = read_card(bundle)

    assert rows == ROWS
    assert back.document == card
    assert b"plastic_memories" not in base64.b64encode(back.original)
    assert json.loads(write_card(back, "json", None)) == back.document


def test_the_picture_stays_the_same_with_memories_inside() -> None:
    came = as_png(v2())

    bundle = write_card(read_card(came)[0], "png", ROWS)

    assert pixels(bundle) == pixels(came)


def test_the_newer_of_two_cards_in_a_picture_counts_and_both_are_kept() -> None:
    both = as_png(v3("新"), b"ccv3", parse_png(as_png(v2("旧"))))

    card, _ = read_card(both)

    assert card.spec == "chara_card_v3"
    assert write_card(card, "png", None) == both
    assert json.loads(inside(write_card(card, "png", ROWS), b"chara")) == v2("旧")


def test_memories_that_another_program_has_copied_are_taken_out_everywhere() -> None:
    bundle = write_card(read_card(as_png(v3(), b"ccv3"))[0], "png", ROWS)
    copied = parse_png(bundle).with_text(b"chara", parse_png(bundle).texts()[b"ccv3"])

    card, rows = read_card(copied.to_bytes())

    assert rows == ROWS
    for keyword in (b"chara", b"ccv3"):
        assert b"plastic_memories" not in inside(card.original, keyword)


def _chunk(kind: bytes, content: bytes, crc: int | None = None) -> bytes:
    found = zlib.crc32(kind + content) if crc is None else crc
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", found)


_HEADER = _chunk(b"IHDR", bytes(13))
_END = _chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "JSON"),
        (b"GIF89a", "JSON"),
        (b"PK\x03\x04...", "CHARX"),
        (SIGNATURE, "ends too early"),
        (SIGNATURE + _HEADER, "ends too early"),
        (SIGNATURE + b"\xff\xff\xff\xffIHDR", "ends too early"),
        (SIGNATURE + _chunk(b"IHDR", bytes(13), crc=1) + _END, "checksum"),
        (SIGNATURE + _END, "header"),
        (SIGNATURE + _HEADER + _END * 1, "no character card"),
        (SIGNATURE + _HEADER + _chunk(b"tEXt", b"x") * 20_001 + _END, "too many"),
        (SIGNATURE + _HEADER + _chunk(b"tEXt", b"chara\0%%%") + _END, "damaged"),
        (SIGNATURE + _HEADER + _chunk(b"tEXt", b"chara\0/w==") + _END, "JSON"),
        (b"[1, 2]", "object"),
        (b'{"a":' * 200_000, "JSON"),
        (b'{"name":"x","description":' + b"[" * 500 + b"]" * 500 + b"}", "nested"),
        (b'{"spec":"chara_card_v2","data":7}', "no data"),
        (b'{"spec":"chara_card_v2","data":{"name":["x"],"description":""}}', "character card"),
        (b'{"hello":"world"}', "character card"),
        (b'{"name":"x","n":' + b"9" * 5000 + b"}", "JSON"),
    ],
)
def test_what_is_broken_or_hostile_is_refused_with_its_reason(raw: bytes, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        read_card(raw)


def test_bytes_after_the_end_of_a_picture_are_kept() -> None:
    raw = as_png(v2()) + b"appended by some editor"

    assert write_card(read_card(raw)[0], "png", None) == raw
    assert write_card(read_card(raw)[0], "png", ROWS).endswith(b"appended by some editor")


def test_the_picture_we_make_is_a_whole_png() -> None:
    picture = parse_png(blank_png(4, 3).to_bytes())

    [pixels_of] = [chunk.content for chunk in picture.chunks if chunk.kind == b"IDAT"]
    assert len(zlib.decompress(pixels_of)) == 3 * (1 + 3 * 4)


def test_a_card_is_read_however_its_text_is_written() -> None:
    packed = base64.b64encode(as_json(v2())).rstrip(b"=")
    broken = b"\r\n".join(packed[start : start + 76] for start in range(0, len(packed), 76))
    chunks = blank_png(2, 2).chunks
    text = Chunk(b"tEXt", b"Chara\0" + broken)

    card, _ = read_card(PngFile([*chunks[:-1], text, chunks[-1]]).to_bytes())

    assert card.document == v2()


def test_a_repeated_text_is_replaced_once() -> None:
    twice = PngFile([Chunk(b"tEXt", b"chara\0a"), Chunk(b"tEXt", b"chara\0b"), Chunk(b"IEND", b"")])

    once = twice.with_text(b"chara", b"c")

    assert [chunk.content for chunk in once.chunks] == [b"chara\0c", b""]


def test_a_card_becomes_persona_rules_and_glossary() -> None:
    drafts = {(draft.type, draft.key): draft for draft in card_drafts(read_card(as_json(v2()))[0])}

    assert (MemoryType.PERSONA, "persona") in drafts
    assert (MemoryType.RULE, "rules") in drafts
    tower = drafts[MemoryType.GLOSSARY, "card.1.钟楼"]
    assert tower.tags == ("钟楼", "wakeup tower")
    assert tower.attributes["card_entry"] == {"name": "钟楼", "insertion_order": 100, "priority": 7}
    assert drafts[MemoryType.GLOSSARY, "card.2.curfew"].pinned
    assert not any("switched off" in draft.content for draft in drafts.values())


@pytest.mark.parametrize(
    "fields",
    [
        {"character_book": {"entries": "none"}},
        {"character_book": 7},
        {"character_book": {"entries": [None, 3, {"content": 5, "keys": "x", "enabled": True}]}},
        {"description": None, "personality": 4, "system_prompt": ["x"]},
        {"description": "half \ud83d and null \x00", "tags": "x"},
    ],
)
def test_fields_of_the_wrong_kind_are_passed_over(fields: dict[str, object]) -> None:
    drafts = card_drafts(read_card(as_json(v2(**fields)))[0])

    for draft in drafts:
        draft.content.encode()
        assert "\x00" not in draft.content


def test_a_long_text_is_cut_between_paragraphs_and_nothing_is_lost() -> None:
    paragraphs = [f"第{number}段。" + "雨" * 600 for number in range(6)]

    found = split_paragraphs("\n\n".join(paragraphs))

    assert len(found) > 1
    assert "\n\n".join(found) == "\n\n".join(paragraphs)
