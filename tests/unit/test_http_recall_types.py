"""A recall of some types only (contract, section 6)."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Api, StartHub, StillClock, refused

MONTH_S = 30 * 86_400.0


@pytest.fixture(params=["hybrid", "keyword"])
async def api(start_hub: StartHub, request: pytest.FixtureRequest) -> Api:
    opened: Api = await start_hub(StillClock(), worker="off", recall=request.param)
    return opened


async def types(api: Api, query: str, **more: Any) -> list[str]:
    found = await api.recall(query, **more)
    return [row["type"] for row in found["PERSONA_MEMORY"]]


async def test_only_memories_of_the_types_are_recalled(api: Api) -> None:
    for kind in ("note", "fact", "event"):
        await api.remember(f"green tea as {kind}", kind, kind)
    await api.remember("allergic to green tea", "profile", "constraint.allergy.tea")

    assert sorted(await types(api, "green tea")) == ["event", "fact", "note", "profile"]
    assert await types(api, "green tea", types=["note"]) == ["note"]
    assert sorted(await types(api, "green tea", types=["note", "event"])) == ["event", "note"]
    assert await types(api, "", types=["note"]) == []
    assert await types(api, "green tea", types=["message"]) == []


async def test_a_rare_type_is_found_behind_many_better_hits(api: Api) -> None:
    items = [{"type": "fact", "key": f"k{n}", "content": f"green tea {n}"} for n in range(100)]
    await api.did("/memory/write", items=items)
    await api.of("other").remember("a long note about tea and cups", "note", "n", scope="global")

    assert await types(api, "green tea", types=["note"], limit=3) == ["note"]


async def test_constraints_stay_in_the_stable_block(api: Api) -> None:
    await api.remember("allergic to peanuts", "profile", "constraint.allergy.peanuts")
    await api.remember("green tea", "note", "n")

    found = await api.recall("green tea", types=["note"])

    assert "peanuts" in found["stable_block"]["text"]
    assert found["stable_block"] == (await api.recall("green tea"))["stable_block"]


async def test_old_talk_is_searched_if_messages_are_among_the_types(api: Api) -> None:
    now = StillClock().at
    await api.say("the dentist moved to Elm Street", session_id="s1", ts=now - MONTH_S)

    async def said(**more: Any) -> list[str]:
        found = await api.recall("where is the dentist", **more)
        return [row["content"] for row in found["CHAT_SNIPPETS"]]

    assert await said() == ["the dentist moved to Elm Street"]
    assert await said(types=["note"]) == []
    assert await said(types=["note", "message"]) == ["the dentist moved to Elm Street"]
    assert await said(types=["message"], include=["memory"]) == ["the dentist moved to Elm Street"]


@pytest.mark.parametrize("wrong", [["nonsense"], "note", [1], [None]])
async def test_an_unknown_type_is_refused(api: Api, wrong: Any) -> None:
    refused(await api.post("/memory/recall", query="tea", types=wrong), 422, "validation_error")
