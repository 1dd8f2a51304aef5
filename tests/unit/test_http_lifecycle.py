"""The rules of memories (contract, section 5): write, confirm, replace, expire, update."""

from __future__ import annotations

import asyncio

import pytest

from harness import Api, data_of, refused

SLOTS = ["identity", "constraints", "values", "preferences"]
LISTS = ["constraints", "preferences"]
STATED = ["user_explicit", "imported", "tool"]
OTHERS = ["persona", "rule", "glossary", "stable_fact", "note", "fact", "profile"]


async def test_a_slot_write_always_waits(api: Api) -> None:
    items = [
        {"type": kind, "key": source, "content": f"温柔 gentle {source}", "source_type": source}
        for kind in SLOTS
        for source in [*STATED, "model_inferred"]
    ]

    written = await api.did("/memory/write", items=items)

    assert [item["memory_status"] for item in written["items"]] == ["candidate"] * len(items)
    assert await api.slots() == {}


async def test_what_was_stated_is_active_at_once(api: Api) -> None:
    items = [
        {"type": kind, "key": source, "content": "喜欢 tea", "source_type": source}
        for kind in OTHERS
        for source in STATED
    ]

    written = await api.did("/memory/write", items=items)

    assert [item["memory_status"] for item in written["items"]] == ["active"] * len(items)


async def test_what_was_inferred_waits(api: Api) -> None:
    items = [
        {"type": kind, "key": "k", "content": "喜欢 tea", "source_type": "model_inferred"}
        for kind in OTHERS
    ]

    written = await api.did("/memory/write", items=items)

    assert [item["memory_status"] for item in written["items"]] == ["candidate"] * len(items)


async def test_an_inferred_summary_is_active(api: Api) -> None:
    memory_id = await api.remember("聊了天气", "summary", source_type="model_inferred")

    assert await api.status_of(memory_id) == "active"


async def test_an_inferred_event_with_a_date_is_active(api: Api) -> None:
    memory_id = await api.remember(
        "妈妈的生日", "event", source_type="model_inferred", attributes={"date": "05-20"}
    )

    assert await api.status_of(memory_id) == "active"


async def test_an_inferred_event_without_a_date_waits(api: Api) -> None:
    memory_id = await api.remember("去了某处", "event", source_type="model_inferred")

    assert await api.status_of(memory_id) == "candidate"


async def test_an_inferred_event_replaces_nothing_the_user_said(api: Api) -> None:
    said = await api.remember("妈妈的生日是5月20日", "event", attributes={"date": "05-20"})

    await api.remember(
        "Mom's birthday is in June",
        "event",
        source_type="model_inferred",
        attributes={"date": "06-01"},
    )

    assert await api.status_of(said) == "active"


async def test_what_the_user_says_of_themself_is_active_at_once(api: Api) -> None:
    learned = await api.learn("我对海鲜过敏", "Call me Bob")

    assert {item["memory_status"] for item in learned["items"]} == {"active"}
    assert {item["key"] for item in learned["items"]} >= {"constraint.allergy.seafood"}


async def test_confirming_twice_changes_nothing(api: Api) -> None:
    memory_id = await api.confirmed("dev", "identity")

    again = await api.did("/memory/confirm", memory_id=memory_id)

    assert (again["updated"], again["memory_status"]) == (False, "active")


async def test_confirming_what_was_rejected_changes_nothing(api: Api) -> None:
    memory_id = await api.remember("dev", "identity")
    await api.did("/memory/reject", memory_id=memory_id)

    confirmed = await api.did("/memory/confirm", memory_id=memory_id)

    assert (confirmed["updated"], confirmed["memory_status"]) == (False, "revoked")


async def test_an_edited_confirm_stores_the_edit(api: Api) -> None:
    memory_id = await api.remember("dev", "identity")

    await api.did("/memory/confirm", memory_id=memory_id, content="后端 developer")

    assert await api.slots() == {"identity": "后端 developer"}


@pytest.mark.parametrize("kind", SLOTS)
async def test_the_key_does_not_matter_to_a_slot(api: Api, kind: str) -> None:
    first = await api.confirmed("one", kind, "a")
    second = await api.remember("two", kind, "b")

    detail = refused(
        await api.post("/memory/confirm", memory_id=second), 409, "conflict_requires_supersedes"
    )

    assert (detail["active_memory_id"], detail["active_content"]) == (first, "one")
    assert detail["candidate_content"] == "two"
    assert await api.slots() == {kind: "one"}


async def test_a_wrong_supersedes_id_conflicts(api: Api) -> None:
    await api.confirmed("one", "identity", "a")
    second = await api.remember("two", "identity", "b")

    answer = await api.post("/memory/confirm", memory_id=second, supersedes_id=999)

    refused(answer, 409, "conflict_requires_supersedes")
    assert await api.slots() == {"identity": "one"}


async def test_the_supersedes_id_given_at_write_counts(api: Api) -> None:
    first = await api.confirmed("one", "identity", "a")
    second = await api.remember("two", "identity", "b", supersedes_id=first)

    await api.did("/memory/confirm", memory_id=second)

    assert await api.status_of(first) == "revoked"
    assert await api.slots() == {"identity": "two"}


async def test_the_supersedes_id_of_the_request_wins_over_that_of_the_write(api: Api) -> None:
    first = await api.confirmed("one", "identity", "a")
    second = await api.remember("two", "identity", "b", supersedes_id=first)

    answer = await api.post("/memory/confirm", memory_id=second, supersedes_id=second)

    refused(answer, 409, "conflict_requires_supersedes")


async def test_a_supersedes_id_of_the_write_is_dropped_when_nothing_is_active(api: Api) -> None:
    first = await api.confirmed("one", "identity", "a")
    second = await api.remember("two", "identity", "b", supersedes_id=first)
    await api.did("/memory/revoke", memory_id=first)

    confirmed = await api.did("/memory/confirm", memory_id=second)

    assert confirmed["memory_status"] == "active"


@pytest.mark.parametrize("kind", ["identity", "fact"])
async def test_a_supersedes_id_of_the_request_needs_an_active_row(api: Api, kind: str) -> None:
    memory_id = await api.remember("one", kind, source_type="model_inferred")

    answer = await api.post("/memory/confirm", memory_id=memory_id, supersedes_id=memory_id)

    refused(answer, 409, "conflict")
    assert await api.status_of(memory_id) == "candidate"


@pytest.mark.parametrize("kind", LISTS)
async def test_lists_coexist_if_asked_to(api: Api, kind: str) -> None:
    await api.confirmed("不吃香菜", kind, "a")
    second = await api.remember("no peanuts", kind, "b")

    await api.did("/memory/confirm", memory_id=second, coexist=True)

    assert await api.slots() == {kind: ["不吃香菜", "no peanuts"]}


@pytest.mark.parametrize("kind", ["identity", "values"])
async def test_an_identity_never_coexists(api: Api, kind: str) -> None:
    await api.confirmed("one", kind, "a")
    second = await api.remember("two", kind, "b")

    answer = await api.post("/memory/confirm", memory_id=second, coexist=True)

    assert answer.status_code in (409, 422)
    assert await api.slots() == {kind: "one"}


async def test_revoking_one_of_a_list_leaves_the_others(api: Api) -> None:
    first = await api.confirmed("不吃香菜", "constraints", "a")
    await api.confirmed("no peanuts", "constraints", "b", coexist=True)

    await api.did("/memory/revoke", memory_id=first)

    assert await api.slots() == {"constraints": "no peanuts"}


async def test_of_many_confirms_at_once_exactly_one_wins(api: Api) -> None:
    rivals = [await api.remember(f"身份 {n}", "identity", f"id{n}") for n in range(40)]

    answers = await asyncio.gather(
        *(api.post("/memory/confirm", memory_id=rival) for rival in rivals)
    )

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [409] * 39
    assert len(await api.listed("active")) == 1
    [winner] = [data_of(a)["memory_id"] for a in answers if a.status_code == 200]
    assert (await api.slots())["identity"] == f"身份 {rivals.index(winner)}"


async def test_of_many_replacements_at_once_exactly_one_wins(api: Api) -> None:
    first = await api.confirmed("zero", "identity", "id")
    rivals = [await api.remember(f"rival {n}", "identity", f"id{n}") for n in range(32)]

    answers = await asyncio.gather(
        *(api.post("/memory/confirm", memory_id=r, supersedes_id=first) for r in rivals)
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 31
    assert await api.status_of(first) == "revoked"


async def test_rewriting_the_key_of_an_active_slot_leaves_it_standing(api: Api) -> None:
    first = await api.confirmed("dev", "identity", "id1")

    second = await api.remember("student", "identity", "id1")

    assert second != first
    assert await api.status_of(first) == "active"
    assert await api.status_of(second) == "candidate"
    assert await api.slots() == {"identity": "dev"}


@pytest.mark.parametrize("kind", ["profile", "fact"])
async def test_a_newer_explicit_statement_supersedes(api: Api, kind: str) -> None:
    first = await api.remember("住在上海", kind, "basic_info.place")

    second = await api.remember("I live in Paris", kind, "basic_info.place")

    assert await api.listed() == ["I live in Paris"]
    rows = {row["id"]: row for row in (await api.saw("/memory/list", status="all"))["items"]}
    assert (rows[first]["status"], rows[first]["superseded_by"]) == ("revoked", second)
    assert rows[second]["supersedes_id"] == first


@pytest.mark.parametrize("kind", ["profile", "fact"])
async def test_a_less_confident_statement_waits(api: Api, kind: str) -> None:
    await api.remember("住在上海", kind, "place", source_type="tool", confidence=0.9)

    second = await api.remember("in Paris", kind, "place", source_type="tool", confidence=0.4)

    assert await api.status_of(second) == "candidate"
    assert await api.listed() == ["住在上海"]


async def test_confidence_belongs_to_its_value(api: Api) -> None:
    await api.remember("住在上海", "profile", "place", confidence=0.9)

    second = await api.remember("in Paris", "profile", "place", confidence=0.5)

    assert (await api.saw("/memory/get", memory_id=second))["confidence"] == 0.5


async def test_the_same_statement_again_stores_nothing(api: Api) -> None:
    first = await api.remember("住在上海", "profile", "place")

    again = await api.did("/memory/write", type="profile", key="place", content="住在上海")

    assert (again["memory_id"], again["updated"]) == (first, False)


async def test_an_idempotency_key_stores_once(api: Api) -> None:
    first = await api.remember("one", "note", "a", idempotency_key="once")

    again = await api.did(
        "/memory/write", type="note", key="b", content="two", idempotency_key="once"
    )

    assert (again["memory_id"], again["updated"]) == (first, False)
    assert await api.listed("all") == ["one"]


async def test_simultaneous_retries_with_one_idempotency_key_store_once(api: Api) -> None:
    retries = (api.remember("one", "note", f"k{n}", idempotency_key="once") for n in range(16))

    ids = await asyncio.gather(*retries)

    assert len(set(ids)) == 1
    assert len(await api.listed("all")) == 1


async def test_temporary_is_skipped(api: Api) -> None:
    written = await api.did("/memory/write", type="fact", key="k", content="x", temporary=True)

    assert (written["status"], written["memory_id"]) == ("skipped", None)
    assert await api.listed("all") == []


async def test_one_bad_item_does_not_stop_the_rest(api: Api) -> None:
    items = [
        {"type": "fact", "key": "a", "content": "海鲜"},
        {"type": "nonsense", "key": "b", "content": "x"},
        {"type": "fact", "key": "c", "content": "我的密码是hunter2"},
        {"type": "fact", "key": "d", "content": "tea", "supersedes_id": 999},
        {"type": "fact", "key": "e"},
        {"type": "fact", "key": "f", "content": "last", "temporary": True},
        {"type": "identity", "key": "g", "content": "dev"},
    ]

    written = await api.did("/memory/write", items=items)

    assert written["written"] == 2
    assert [item["key"] for item in written["items"]] == ["a", "g"]
    assert [skip["index"] for skip in written["skipped"]] == [1, 2, 3, 4, 5]
    assert "hunter2" not in str(written)


@pytest.mark.parametrize(("count", "status"), [(500, 200), (501, 422)])
async def test_at_most_500_items_at_once(api: Api, count: int, status: int) -> None:
    items = [{"type": "note", "key": f"k{n}", "content": f"note {n}"} for n in range(count)]

    answer = await api.post("/memory/write", items=items)

    assert answer.status_code == status


async def test_confirm_with_talk_accepts_what_conflicts_with_nothing(api: Api) -> None:
    learned = await api.learn("叫我 tcmiku", "我对海鲜过敏", confirm=True)

    assert {item["memory_status"] for item in learned["items"]} == {"active"}


async def test_an_update_makes_a_new_version(api: Api) -> None:
    first = await api.remember("住在上海", "profile", "place", tags=["home"])

    updated = await api.did("/memory/update", memory_id=first, content="住在杭州", importance=0.9)

    assert updated["memory"]["supersedes_id"] == first
    assert (updated["memory"]["tags"], updated["memory"]["importance"]) == (["home"], 0.9)
    assert await api.listed() == ["住在杭州"]
    history = (await api.saw("/memory/history", memory_id=first))["items"]
    assert [row["content"] for row in history] == ["住在上海", "住在杭州"]
    assert all(row["changes"] for row in history)


async def test_an_update_of_an_active_slot_waits(api: Api) -> None:
    first = await api.confirmed("dev", "identity")

    updated = await api.did("/memory/update", memory_id=first, content="student")

    assert updated["memory_status"] == "candidate"
    assert updated["memory"]["supersedes_id"] == first
    assert await api.slots() == {"identity": "dev"}
    await api.did("/memory/confirm", memory_id=updated["memory_id"])
    assert await api.slots() == {"identity": "student"}


@pytest.mark.parametrize("kind", ["identity", "preferences", "profile", "fact"])
async def test_an_update_of_a_candidate_leaves_the_active_row_standing(api: Api, kind: str) -> None:
    active = await api.remember("one", kind, "a")
    await api.did("/memory/confirm", memory_id=active)
    waiting = await api.remember("two", kind, "a", source_type="model_inferred")

    updated = await api.did("/memory/update", memory_id=waiting, content="two and a half")

    assert updated["memory_status"] == "candidate"
    assert await api.status_of(active) == "active"
    assert await api.listed() == ["one"]


async def test_what_has_ended_cannot_be_updated(api: Api) -> None:
    memory_id = await api.remember("one")
    await api.did("/memory/revoke", memory_id=memory_id)

    refused(await api.post("/memory/update", memory_id=memory_id, content="x"), 409, "conflict")


async def test_expires_at_null_clears_the_expiry(api: Api) -> None:
    memory_id = await api.remember("one", ttl_seconds=3600)

    updated = await api.did("/memory/update", memory_id=memory_id, expires_at=None)

    assert updated["memory"]["expires_at"] is None


async def test_a_slot_row_that_a_fact_supersedes_leaves_its_slot(api: Api) -> None:
    identity = await api.confirmed("dev", "identity")

    await api.post("/memory/write", type="fact", key="f", content="student", supersedes_id=identity)

    slots = await api.slots()
    assert ("identity" in slots) is (await api.status_of(identity) == "active")


async def test_revoked_memories_are_listed_only_when_asked_for(api: Api) -> None:
    memory_id = await api.remember("我喜欢 green tea")

    revoked = await api.did("/memory/revoke", memory_id=memory_id)

    assert (revoked["updated"], revoked["memory_status"]) == (True, "revoked")
    assert await api.listed() == []
    assert await api.listed("revoked") == ["我喜欢 green tea"]
    assert await api.recalled("green tea") == []
    history = await api.saw("/memory/history", memory_id=memory_id)
    assert [row["status"] for row in history["items"]] == ["revoked"]


async def test_a_list_is_paged_without_gaps_or_repeats(api: Api) -> None:
    items = [{"type": "note", "key": f"k{n}", "content": f"第 {n} 条"} for n in range(25)]
    await api.did("/memory/write", items=items)

    seen: list[str] = []
    cursor = None
    while True:
        page = await api.saw("/memory/list", limit=10, cursor=cursor)
        seen += [row["key"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == [f"k{n}" for n in reversed(range(25))]


@pytest.mark.parametrize("q", ["100%", "a_b", "海鲜", "\\", "'; DROP TABLE memory_items; --"])
async def test_a_list_filter_is_literal(api: Api, q: str) -> None:
    await api.remember(f"hit {q} hit", "note", "a")
    await api.remember("100 axb shrimp", "note", "b")

    assert await api.listed(q=q) == [f"hit {q} hit"]
