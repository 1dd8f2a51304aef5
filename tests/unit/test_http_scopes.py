"""Bots, personas, scopes and realms: which rows of one user exist for which request."""

from __future__ import annotations

import pytest

from harness import Api, StartHub, refused

TEA = "我喜欢 green tea"


async def where_seen(api: Api, **view: str) -> set[str]:
    """Return the read paths in which the tea stands."""
    found = await api.recall("green tea", **view)
    bot = {name: value for name, value in view.items() if name in ("bot_id", "bots")}
    said = {
        "recall": str(found["PERSONA_MEMORY"]),
        "blocks": found["injection_block"] + found["stable_block"]["text"],
        "profile in recall": found["PERSONA_PROFILE"],
        "list": str(await api.listed(**bot)),
        "profile": (await api.saw("/persona/profile", **bot))["profile_markdown"],
        "slots": str(await api.slots(**bot)),
    }
    return {name for name, text in said.items() if "green tea" in text}


@pytest.mark.parametrize("kind", ["fact", "profile", "rule", "preferences", "constraints"])
async def test_a_bots_row_exists_for_that_bot_only(api: Api, kind: str) -> None:
    key = "constraint.tea" if kind == "profile" else "k"
    memory_id = await api.remember(TEA, kind, key, bot_id="b1")
    await api.did("/memory/confirm", memory_id=memory_id, bot_id="b1")

    assert await where_seen(api) == set()
    assert await where_seen(api, bot_id="b2") == set()
    assert "list" in await where_seen(api, bot_id="b1")
    assert "list" in await where_seen(api, bots="all")


async def test_a_row_without_a_bot_does_not_exist_for_a_bot(api: Api) -> None:
    await api.remember(TEA, "profile", "constraint.tea", scope="global")

    assert await where_seen(api, bot_id="b1") == set()
    assert await where_seen(api.of("p2"), bot_id="b1") == set()


async def test_bot_isolation_is_stronger_than_crossing_personas(api: Api) -> None:
    await api.remember(TEA, "profile", "constraint.tea", bot_id="b1", scope="global")

    other = api.of("p2")

    assert await where_seen(other) == set()
    assert await where_seen(other, bot_id="b2") == set()
    assert "blocks" in await where_seen(other, bot_id="b1")


@pytest.mark.parametrize("view", [{}, {"bot_id": "b2"}])
async def test_another_bot_cannot_touch_a_row(api: Api, view: dict[str, str]) -> None:
    memory_id = await api.remember(TEA, "fact", "k", bot_id="b1")
    waiting = await api.remember("dev", "identity", "k", bot_id="b1")

    answers = [
        await api.get("/memory/get", memory_id=memory_id, **view),
        await api.get("/memory/history", memory_id=memory_id, **view),
        await api.post("/memory/confirm", memory_id=waiting, **view),
        await api.post("/memory/revoke", memory_id=memory_id, **view),
        await api.post("/memory/update", memory_id=memory_id, content="x", **view),
        await api.post("/memory/forget", memory_id=memory_id, **view),
    ]

    assert [answer.status_code for answer in answers] == [404] * len(answers)
    assert (await api.did("/memory/forget", type="fact", key="k", **view))["deleted"] == 0
    assert await api.status_of(memory_id, bot_id="b1") == "active"


async def test_another_bot_cannot_supersede_a_row(api: Api) -> None:
    memory_id = await api.remember(TEA, "fact", "k", bot_id="b1")

    answer = await api.post(
        "/memory/write", type="fact", key="k2", content="coffee", supersedes_id=memory_id
    )

    refused(answer, 404, "not_found")
    assert await api.status_of(memory_id, bot_id="b1") == "active"


async def test_another_bots_idempotency_key_tells_nothing(api: Api) -> None:
    first = await api.remember(TEA, "fact", "k", bot_id="b1", idempotency_key="once")

    answer = await api.post(
        "/memory/write", type="fact", key="k", content="x", bot_id="b2", idempotency_key="once"
    )

    assert answer.status_code in (200, 409)
    assert answer.json().get("data", {}).get("memory_id") != first


async def test_another_bots_memory_cannot_be_linked_to_a_goal(api: Api) -> None:
    memory_id = await api.remember(TEA, "fact", "k", bot_id="b1")
    goal_id = (await api.did("/goals/create", title="goal"))["goal_id"]

    answer = await api.post("/goals/link", goal_id=goal_id, memory_id=memory_id)

    refused(answer, 404, "not_found")


async def test_two_bots_have_slots_of_their_own(api: Api) -> None:
    for bot in ("b1", "b2"):
        memory_id = await api.remember(f"I am {bot}", "identity", "k", bot_id=bot)
        await api.did("/memory/confirm", memory_id=memory_id, bot_id=bot)

    assert await api.slots(bot_id="b1") == {"identity": "I am b1"}
    assert await api.slots(bot_id="b2") == {"identity": "I am b2"}
    assert await api.slots() == {}


async def test_two_bots_do_not_quote_each_other(api: Api) -> None:
    await api.say("green tea", bot_id="b1")
    await api.say("black tea")

    assert [m["content"] for m in (await api.recall(""))["CHAT_SNIPPETS"]] == ["black tea"]
    seen = (await api.recall("", bot_id="b1"))["CHAT_SNIPPETS"]
    assert [m["content"] for m in seen] == ["green tea"]
    recent = (await api.saw("/messages/recent", bot_id="b1"))["messages"]
    assert [m["content"] for m in recent] == ["green tea"]
    assert len((await api.saw("/messages/recent", bots="all"))["messages"]) == 2


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
@pytest.mark.parametrize("kind", ["fact", "profile", "rule", "constraints"])
async def test_one_session_alone_can_be_asked(start_hub: StartHub, kind: str, engine: str) -> None:
    api: Api = await start_hub(recall=engine)
    key = "constraint.tea" if kind == "profile" else "k"
    await api.remember(TEA, kind, key, session_id="private")
    await api.say(TEA, session_id="private")
    own = {"session_id": "private", "only_session": True}

    elsewhere = await api.recall("green tea", session_id="group", only_session=True)

    elsewhere.pop("intent")  # it repeats the question
    assert "green tea" not in str(elsewhere)
    assert "green tea" in (await api.recall("green tea", **own))["injection_block"]
    assert "green tea" in (await api.recall("green tea", session_id="group"))["injection_block"]
    status = "candidate" if kind == "constraints" else "active"
    assert await api.listed(session_id="group", status=status) == []
    assert len(await api.listed(session_id="private", status=status)) == 1


SCOPED = ["fact", "profile", "note"]


@pytest.mark.parametrize("kind", SCOPED)
async def test_a_session_row_is_recalled_in_its_session_only(api: Api, kind: str) -> None:
    await api.remember(TEA, kind, "preference.tea", scope="session", session_id="s1")

    assert await api.recalled("green tea", session_id="s1") == [TEA]
    for view in ({"session_id": "s2"}, {}):
        found = await api.recall("green tea", **view)
        assert found["PERSONA_MEMORY"] == []
        assert "green tea" not in found["injection_block"]
        assert "green tea" not in found["PERSONA_PROFILE"]


@pytest.mark.parametrize("kind", SCOPED)
async def test_an_app_row_is_recalled_in_its_app_only(api: Api, kind: str) -> None:
    await api.remember(TEA, kind, "preference.tea", scope="app", source_app="ide")

    assert await api.recalled("green tea", source_app="ide") == [TEA]
    for view in ({"source_app": "web"}, {}):
        found = await api.recall("green tea", **view)
        assert found["PERSONA_MEMORY"] == []
        assert "green tea" not in found["injection_block"] + found["PERSONA_PROFILE"]


async def test_a_session_row_without_a_session_is_everybodys_nowhere(api: Api) -> None:
    await api.remember(TEA, "fact", "k", scope="session")

    assert await api.recalled("green tea") == []
    assert await api.recalled("green tea", session_id="s1") == []


async def test_a_persona_row_stays_with_its_persona(api: Api) -> None:
    await api.remember(TEA)

    assert await where_seen(api.of("p2")) == set()


async def test_a_global_row_is_recalled_by_every_persona(api: Api) -> None:
    await api.remember(TEA, scope="global")

    other = api.of("p2")

    assert await other.recalled("green tea") == [TEA]
    assert await other.listed(scope="persona") == []
    assert await other.listed() == [TEA]
    assert await other.listed(scope="global") == [TEA]


@pytest.mark.parametrize("realm", ["story", "hypothetical", "ooc"])
async def test_a_story_never_crosses_personas(api: Api, realm: str) -> None:
    await api.remember(TEA, "fact", "a", scope="global", realm=realm)
    await api.remember(TEA, "profile", "constraint.tea", scope="global", realm=realm)

    other = api.of("p2")

    for view in ({}, {"realm": realm}):
        found = await other.recall("green tea", **view)
        assert "green tea" not in found["injection_block"] + found["PERSONA_PROFILE"]
        assert found["PERSONA_MEMORY"] == []
    assert await other.listed(scope="global") == []
    assert await other.listed(scope="global", realm=realm) == []


async def test_a_story_is_not_taken_for_real(api: Api) -> None:
    await api.remember("dragons exist", "fact", "a", realm="story")
    await api.remember("我对龙过敏", "profile", "constraint.dragon", realm="story")

    found = await api.recall("dragons 龙")

    assert found["PERSONA_MEMORY"] == []
    assert "龙" not in found["injection_block"]
    assert await api.recalled("dragons", realm="story")


async def test_a_story_keeps_the_real_constraints(api: Api) -> None:
    await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")

    found = await api.recall("dragons", realm="story")

    assert "我对海鲜过敏" in found["stable_block"]["text"]


async def test_a_relationship_stays_with_its_persona(api: Api) -> None:
    await api.remember("我们是恋人", "profile", "relationship.partner")

    found = await api.of("p2").recall("恋人")

    assert "恋人" not in found["injection_block"] + found["PERSONA_PROFILE"]


async def test_rows_of_two_scopes_stand_side_by_side(api: Api) -> None:
    await api.remember("here", "fact", "k", scope="session", session_id="s1")
    await api.remember("there", "fact", "k", scope="session", session_id="s2")
    await api.remember("everywhere", "fact", "k")

    assert sorted(await api.listed()) == ["everywhere", "here", "there"]
