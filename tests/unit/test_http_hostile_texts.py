"""Texts that are made to be slow to read cost nobody else anything, and little their own user."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from harness import Api
from page_parts import Pages
from plastic_memories.hub.recall import recall

LIMIT = 32_000
NOTES = {
    "tabs": f"tea{chr(9) * 31_000}tea",
    "quotes": "“" * LIMIT,
    "brackets": "[[" * (LIMIT // 2),
    "links": "[a](" * (LIMIT // 4),
    "comments": "<!--" * (LIMIT // 4),
    "adverbs": "我刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚刚，"
    * 500,
    "wishes": "都要" * (LIMIT // 2),
    "fences": "<" + " " * (LIMIT - 1) + "p",
}
PAGE = "\n".join(
    ["# " + " " * 9_000 + "a", "[" * 9_000, "[a](" * 3_000, "- tea" + "\t" * 9_000 + "x"] * 3
)


async def store_hostile_texts(api: Api, folder: Path) -> None:
    for key, text in NOTES.items():
        await api.remember(f"tea {text}"[:LIMIT], "note", key)
    for text in (f"tea{chr(10) * 4_000}tea", "“" * LIMIT):
        said = [{"role": "user", "content": text} for _ in range(20)]
        await api.did("/messages/append", messages=said, session_id="s")
    for number in range(3):
        Pages(folder).write(PAGE, f"extended/{number}.md")
    Pages(folder).write(PAGE)


async def test_another_user_waits_for_nobody_elses_texts(api: Api, tmp_path: Path) -> None:
    other = api.as_("devkey2")
    await other.remember("I like green tea", "note", "mine")
    await store_hostile_texts(api, tmp_path)

    async def read_again_and_again() -> None:
        for text in NOTES.values():
            await api.recall("tea 我 “")
            await api.learn(text[:LIMIT], session_id="learned")

    reading = asyncio.create_task(read_again_and_again())
    waits: list[float] = []
    while not reading.done():
        # The time of this process alone: what else the machine does is nobody's fault here.
        started = time.process_time()
        assert await other.recalled("tea") == ["I like green tea"]
        waits.append(time.process_time() - started)
        await asyncio.sleep(0.01)
    await reading

    assert max(waits) < 1.0


@pytest.mark.parametrize("key", NOTES)
async def test_a_hostile_text_is_stored_whole_and_found(api: Api, key: str) -> None:
    memory_id = await api.remember(f"zebra {NOTES[key]}"[:LIMIT], "note", key)

    found = await api.recall("zebra")

    assert [row["id"] for row in found["PERSONA_MEMORY"]] == [memory_id]
    kept = await api.saw("/memory/get", memory_id=memory_id)
    is_whole = kept["content"] == f"zebra {NOTES[key]}"[:LIMIT]
    assert is_whole  # to show the difference would take longer than all else
    assert found["degraded"] == []


async def test_blocks_that_take_too_long_are_named_and_what_matters_is_there(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.confirmed("My name is Ann", "profile", "basic_info.name")
    await api.confirmed("Allergic to peanuts", "profile", "constraint.allergy.peanut")
    for number in range(2):
        await api.remember(f"tea {'leaf ' * 6_000}{number}", "note", f"n{number}")
    go_on, write = threading.Event(), recall.turn_block

    def slow(hits, *rest):  # type: ignore[no-untyped-def]
        if hits:
            go_on.wait(20)
        return write(hits, *rest)

    monkeypatch.setattr(recall, "turn_block", slow)
    try:
        found = await api.recall("tea", deadline_ms=100)
    finally:
        go_on.set()

    assert found["degraded"] == ["blocks"]
    assert "Allergic to peanuts" in found["injection_block"]
    assert "My name is Ann" in found["injection_block"]
    assert found["turn_block"]["text"] == ""
    assert len(found["PERSONA_MEMORY"]) == 4
