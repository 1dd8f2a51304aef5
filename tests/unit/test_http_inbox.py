"""The inbox: what waits, where it came from, what it would replace; one answer for several."""

from __future__ import annotations

import pytest

from harness import Api, refused


async def guess(api: Api, content: str, key: str) -> int:
    return await api.remember(content, "profile", key, source_type="model_inferred", quote="…")


async def test_a_candidate_says_what_it_would_replace(api: Api) -> None:
    known = await api.remember("住在上海", "profile", "basic_info.city")
    waiting = await guess(api, "住在北京", "basic_info.city")
    await guess(api, "有点害羞", "personality.shy")

    rows = {row["id"]: row for row in (await api.saw("/memory/list", status="candidate"))["items"]}

    assert rows[waiting]["replaces"] == [
        {"memory_id": known, "key": "basic_info.city", "content": "住在上海"}
    ]
    assert [row["replaces"] for row in rows.values() if row["id"] != waiting] == [[]]


async def test_a_slot_candidate_names_the_active_slot(api: Api) -> None:
    active = await api.confirmed("温柔", "identity", "id1")
    await api.remember("冷淡", "identity", "id2")

    [row] = (await api.saw("/memory/list", status="candidate"))["items"]

    assert [one["memory_id"] for one in row["replaces"]] == [active]


async def test_what_another_bot_knows_is_not_shown_as_replaced(api: Api) -> None:
    await api.remember("住在上海", "profile", "basic_info.city", bot_id="b1")
    await guess(api, "住在北京", "basic_info.city")

    [row] = (await api.saw("/memory/list", status="candidate"))["items"]

    assert row["replaces"] == []


async def test_several_are_confirmed_at_once(api: Api) -> None:
    ids = [await guess(api, f"爱好{n}", f"preference.hobby{n}") for n in range(3)]

    done = await api.did("/memory/confirm", memory_ids=ids)

    assert done["updated"] is True
    assert [(item["memory_id"], item["memory_status"]) for item in done["items"]] == [
        (one, "active") for one in ids
    ]
    assert await api.listed("candidate") == []


async def test_one_that_cannot_be_confirmed_does_not_stop_the_rest(api: Api) -> None:
    await api.confirmed("温柔", "identity", "id1")
    slot = await api.remember("冷淡", "identity", "id2")
    fine = await guess(api, "有点害羞", "personality.shy")

    done = await api.did("/memory/confirm", memory_ids=[slot, 999, fine])

    assert [item["updated"] for item in done["items"]] == [False, False, True]
    codes = [item["error"]["code"] for item in done["items"] if item["error"]]
    assert codes == ["conflict_requires_supersedes", "not_found"]


async def test_several_are_rejected_for_good(api: Api) -> None:
    ids = [await guess(api, f"爱好{n}", f"preference.hobby{n}") for n in range(2)]

    await api.did("/memory/reject", memory_ids=ids, never_again=True)

    again = await api.did(
        "/memory/write", type="profile", key="preference.hobby0", content="爱好0",
        source_type="model_inferred",
    )  # fmt: skip
    assert again["status"] == "skipped"
    assert await api.listed("candidate") == []


async def test_nobody_answers_for_another(api: Api) -> None:
    waiting = await guess(api, "有点害羞", "personality.shy")

    done = await api.as_("devkey2").did("/memory/confirm", memory_ids=[waiting])

    assert [item["error"]["code"] for item in done["items"]] == ["not_found"]
    assert await api.status_of(waiting) == "candidate"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"memory_id": 1, "memory_ids": [1]},
        {"memory_ids": []},
        {"memory_ids": [1], "content": "x"},
        {"memory_ids": [1], "supersedes_id": 2},
    ],
)
async def test_it_must_be_clear_what_is_confirmed(api: Api, body: dict[str, object]) -> None:
    refused(await api.post("/memory/confirm", **body), 422, "validation_error")
