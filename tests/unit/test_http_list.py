"""The filters, orders and pages of `GET /memory/list` (contract, section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Api, StartHub, StillClock, refused


@pytest.fixture
async def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def keys(api: Api, **wanted: Any) -> list[str]:
    return [row["key"] for row in (await api.saw("/memory/list", **wanted))["items"]]


async def all_pages(api: Api, **wanted: Any) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page = await api.saw("/memory/list", cursor=cursor, **wanted)
        seen += [row["key"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return seen


async def test_a_key_prefix_is_literal_and_exact(api: Api) -> None:
    for key in (
        "basic_info.name",
        "basic_info.age",
        "Basic_info.x",
        "basicXinfo.y",
        "a.basic_info",
    ):
        await api.remember("x", "profile", key)

    assert await keys(api, key_prefix="basic_info.") == ["basic_info.age", "basic_info.name"]
    assert await keys(api, key_prefix="%") == []


async def test_events_are_listed_by_their_type(api: Api) -> None:
    await api.remember("生日", "event", "a", attributes={"event_type": "birthday"})
    await api.remember("搬家", "event", "b", attributes={"event_type": "life_event"})
    await api.remember("生日 birthday", "note", "c")

    assert await keys(api, event_type="birthday") == ["a"]
    assert await keys(api, event_type="plan") == []


async def test_the_less_important_is_left_out(api: Api) -> None:
    for key, importance in (("low", 0.2), ("mid", 0.5), ("high", 0.9)):
        await api.remember("x", "note", key, importance=importance)

    assert await keys(api, min_importance=0.5) == ["high", "mid"]


async def test_a_time_is_from_then_and_up_to_then(api: Api, clock: StillClock) -> None:
    started = clock.at
    for number in range(3):
        clock.at = started + number
        await api.remember("x", "note", f"k{number}")

    assert await keys(api, since=started + 1) == ["k2", "k1"]
    assert await keys(api, until=started + 1) == ["k0"]
    assert await keys(api, since=started + 1, until=started + 2) == ["k1"]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", ["e", "d", "c", "b", "a"]),
        ("oldest", ["a", "b", "c", "d", "e"]),
        ("importance", ["d", "b", "e", "c", "a"]),
    ],
)
async def test_pages_of_any_order_have_no_gap_and_no_repeat(
    api: Api, sort: str, expected: list[str], limit: int
) -> None:
    for key, importance in (("a", 0.00001), ("b", 0.7), ("c", 1 / 3), ("d", 1), ("e", 1 / 3)):
        # One of them is shared by another persona.
        scope = {"scope": "global"} if key == "c" else {}
        persona = api.of("other") if key == "c" else api
        await persona.remember("x", "note", key, importance=importance, **scope)

    assert await all_pages(api, sort=sort, limit=limit) == expected


async def test_a_page_goes_on_after_its_last_row_was_erased(api: Api) -> None:
    for key, importance in (("a", 0.1), ("b", 0.5), ("c", 0.9)):
        await api.remember("x", "note", key, importance=importance)
    page = await api.saw("/memory/list", sort="importance", limit=1)

    await api.did("/memory/forget", type="note", key="c")

    assert await keys(api, sort="importance", cursor=page["next_cursor"]) == ["b", "a"]


async def test_a_persona_lists_its_own_rows_and_the_global_ones(api: Api) -> None:
    await api.remember("x", "note", "own")
    await api.of("other").remember("x", "note", "hers")
    shared = await api.of("other").remember("x", "note", "shared", scope="global")
    await api.of("other").remember("x", "note", "story", scope="global", realm="story")

    assert await keys(api) == ["shared", "own"]
    assert await keys(api, scope="persona") == ["own"]
    assert await keys(api, scope="global") == ["shared"]
    assert (await api.saw("/memory/get", memory_id=shared))["persona_id"] == "other"
    assert len((await api.saw("/memory/history", memory_id=shared))["items"]) == 1
    assert await keys(api.as_("devkey2"), status="all") == []


async def test_a_candidate_of_another_persona_waits_in_its_own_inbox(api: Api) -> None:
    waiting = await api.of("other").remember(
        "x", "fact", "k", scope="global", source_type="model_inferred"
    )
    assert await api.of("other").status_of(waiting) == "candidate"

    assert await keys(api, status="candidate") == []
    assert await keys(api, status="all") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"tpye": "note"},
        {"persona": "p1"},
        {"sort": "best"},
        {"status": "any"},
        {"min_importance": 2},
        {"since": "yesterday"},
        {"cursor": "x"},
        {"cursor": "1.2.3:4", "sort": "importance"},
    ],
)
async def test_an_unknown_or_unusable_parameter_is_refused(
    api: Api, wrong: dict[str, str | int]
) -> None:
    refused(await api.get("/memory/list", **wrong), 422, "validation_error")


@pytest.mark.parametrize("wrong", [{"cursor": "0.5:3"}, {"cursor": "3", "sort": "importance"}])
async def test_a_cursor_of_another_sort_is_a_conflict(api: Api, wrong: dict[str, str]) -> None:
    refused(await api.get("/memory/list", **wrong), 409, "conflict")


async def test_a_user_id_is_ignored_and_not_refused(api: Api) -> None:
    await api.remember("x", "note", "own")

    assert await keys(api, user_id="userB") == ["own"]
