"""A thousand turns of small talk through the whole hub, with recall on every turn."""

from __future__ import annotations

import random

import pytest

from harness import Api, Json, StartHub, StillClock
from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from small_talk import (
    MOST_JUNK,
    MOST_NOTES,
    QUOTES,
    REMINDERS,
    REPLIES,
    TOLD,
    TURNS,
    of_our_lines,
    small_talk,
)

SECONDS_A_TURN = 30.0
ROUNDS = 10  # what is digested at once


async def take_turn(api: Api, chance: random.Random, turn: int, last_reply: str) -> str:
    """Recall, say something, and answer: now and then with what the hub has just injected."""
    asked = TOLD.get(turn) or small_talk(chance)
    block = (await api.recall(asked, session_id="s1"))["injection_block"]
    if turn not in TOLD and chance.random() < 0.15:
        asked = chance.choice(QUOTES).format(of_our_lines(chance, block))
    elif turn not in TOLD and chance.random() < 0.15:
        asked = chance.choice(QUOTES).format(last_reply)
    reply = chance.choice(REPLIES)
    if chance.random() < 0.4:
        reply = chance.choice(REMINDERS).format(of_our_lines(chance, block))
    said = [{"role": "user", "content": asked}, {"role": "assistant", "content": reply}]
    await api.did("/messages/append", messages=said, session_id="s1")
    return reply


async def remembered(api: Api) -> list[Json]:
    """Return every row there is, whatever its type and status."""
    rows: list[Json] = []
    cursor: str | None = None
    while True:
        page = await api.saw("/memory/list", status="all", limit=200, cursor=cursor)
        rows += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return rows


@pytest.mark.slow
async def test_a_thousand_turns_with_recall_leave_what_was_told_and_no_junk(
    start_hub: StartHub, clock: StillClock
) -> None:
    api: Api = await start_hub(clock, worker="off", log_level="WARNING")
    assert api.hub is not None
    chance = random.Random(11)
    reply = REPLIES[0]
    for turn in range(TURNS):
        reply = await take_turn(api, chance, turn, reply)
        clock.at += SECONDS_A_TURN
        if turn % ROUNDS == ROUNDS - 1:
            # A running hub notes what was recalled every 15 seconds: sooner than the next turn.
            await api.hub.recall.recall_counts.flush(api.hub.storage.backend)
            assert await api.hub.job_runner.run_all_due("w") in {1, 2}  # light jobs too
    await api.did("/jobs/run", session_id="s1", wait=True)

    owner = Owner("default", "userA", "p1")
    told = {
        (draft.key, draft.attributes["value"]): draft.content
        for text in TOLD.values()
        for draft in extract_drafts(
            [Message(owner=owner, role=Role.USER, content=text, ts=clock.at)]
        )
    }
    rows = await remembered(api)
    facts = [row for row in rows if row["type"] != "summary"]
    # A note quotes what was said and claims nothing; of chatter a few may stay.
    notes = [row for row in facts if row["type"] == "note"]
    claims = [row for row in facts if row["type"] != "note"]
    junk = [row for row in claims if (row["key"], row["attributes"].get("value")) not in told]
    junk += [
        row
        for row in rows
        if row["type"] == "summary" and not any(said in row["content"] for said in told.values())
    ]
    active = {
        (row["key"], row["attributes"]["value"]) for row in claims if row["status"] == "active"
    }
    rate = len(junk) / TURNS
    print(f"junk: {len(junk)} of {len(rows)} memories after {TURNS} turns, {rate:.2%} of turns")  # noqa: T201

    assert rate < MOST_JUNK, [(row["key"], row["content"]) for row in junk]
    assert len(notes) / TURNS < MOST_NOTES, [row["content"] for row in notes]
    assert active >= set(told)
