"""Expiry: enforced at read at once, written down by the sweeper (contract, section 5, rule 8)."""

from __future__ import annotations

import time

import pytest

from harness import Api, StillClock, refused


async def test_a_ttl_ends_a_memory_for_every_reader_at_once(timed: Api, clock: StillClock) -> None:
    await timed.remember("对花生过敏", "profile", "constraint.allergy.peanut", ttl_seconds=60)
    await timed.remember("green tea", "fact", "t", ttl_seconds=60)

    clock.at += 60

    assert await timed.listed() == []
    found = await timed.recall("green tea 花生")
    assert found["PERSONA_MEMORY"] == []
    assert "花生" not in found["injection_block"] + found["PERSONA_PROFILE"]
    assert "花生" not in (await timed.saw("/persona/profile"))["profile_markdown"]


async def test_an_expired_memory_is_nowhere_called_active(timed: Api, clock: StillClock) -> None:
    memory_id = await timed.remember("green tea", "fact", "t", ttl_seconds=60)

    clock.at += 60

    assert await timed.status_of(memory_id) == "expired"
    assert await timed.listed("expired") == ["green tea"]


async def test_an_expired_slot_is_empty_without_the_sweeper(timed: Api, clock: StillClock) -> None:
    memory_id = await timed.remember("dev", "identity", "a", ttl_seconds=60)
    await timed.did("/memory/confirm", memory_id=memory_id)

    clock.at += 60

    assert await timed.slots() == {}


async def test_an_expired_slot_does_not_stand_in_the_way(timed: Api, clock: StillClock) -> None:
    first = await timed.remember("dev", "identity", "a", ttl_seconds=60)
    await timed.did("/memory/confirm", memory_id=first)
    second = await timed.remember("student", "identity", "b")
    clock.at += 60

    confirmed = await timed.did("/memory/confirm", memory_id=second)

    assert confirmed["memory_status"] == "active"
    assert await timed.slots() == {"identity": "student"}


async def test_a_candidate_past_its_expiry_cannot_be_confirmed(
    timed: Api, clock: StillClock
) -> None:
    memory_id = await timed.remember("dev", "identity", "a", ttl_seconds=60)
    clock.at += 60

    refused(await timed.post("/memory/confirm", memory_id=memory_id), 409, "expired")

    assert await timed.listed("candidate") == []


async def test_the_sweeper_writes_down_what_has_expired(timed: Api, clock: StillClock) -> None:
    memory_id = await timed.remember("dev", "identity", "a", ttl_seconds=60)
    await timed.did("/memory/confirm", memory_id=memory_id)
    clock.at += 60
    assert timed.hub is not None

    await timed.hub.upkeep.run_once()

    assert await timed.status_of(memory_id) == "expired"
    assert await timed.slots() == {}
    events = (await timed.saw("/audit", memory_id=memory_id))["items"]
    assert [event["event"] for event in events][-1] == "memory.expire"


async def test_expires_at_wins_over_nothing_and_is_kept(api: Api) -> None:
    later = int(time.time()) + 3600

    memory_id = await api.remember("green tea", expires_at=later)

    assert (await api.saw("/memory/get", memory_id=memory_id))["expires_at"] == later


@pytest.mark.parametrize("given", [{"ttl_seconds": 60.5}, {"expires_at": 4_000_000_000.25}])
async def test_an_expiry_is_told_in_whole_seconds(api: Api, given: dict[str, float]) -> None:
    memory_id = await api.remember("green tea", **given)

    row = await api.saw("/memory/get", memory_id=memory_id)
    [listed] = (await api.saw("/memory/list"))["items"]
    [recalled] = (await api.recall("green tea"))["PERSONA_MEMORY"]

    assert {type(found["expires_at"]) for found in (row, listed, recalled)} == {int}
    assert row["expires_at"] >= given.get("expires_at", time.time())
