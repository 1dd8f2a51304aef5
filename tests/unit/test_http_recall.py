"""Recall: what is found, what is always there, and what no query can do (contract, section 6)."""

from __future__ import annotations

import pytest

from harness import Api, StartHub, StillClock, refused

ALLERGY = "我对海鲜过敏"
TEA = "I drink jasmine tea every morning"


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("海鲜", ALLERGY),
        ("what tea?", TEA),
        ("我能吃虾和海鲜吗", ALLERGY),
        ("茉莉 jasmine", TEA),
        ("TEA", TEA),
        ("ＪＡＳＭＩＮＥ", TEA),
        ("drinking", TEA),
        ("上海的咖啡馆 café", "上次在上海的咖啡馆见面"),
        ("cafe", "We met at the café"),
        ("日本語", "彼は日本語を話す"),
        ("🍵", "my mood: 🍵"),
    ],
)
async def test_a_question_finds_its_memory(api: Api, query: str, content: str) -> None:
    await api.remember(content, "note", "wanted")
    await api.remember("完全无关的一件事", "note", "other")

    assert (await api.recalled(query))[:1] == [content]


NASTY = [
    "",
    " ",
    '"',
    '""',
    "'",
    "*",
    "tea*",
    "^tea",
    "tea AND",
    "AND OR NOT",
    "NEAR(tea, 5)",
    "NEAR/2",
    "terms:tea",
    "rowid:1",
    "-tea",
    "+tea",
    "tea -green",
    "(tea",
    "tea)",
    "((((((((",
    "{tea}",
    "[tea]",
    "tea\\",
    "\\",
    "%",
    "_",
    "%%%%",
    "tea; DROP TABLE memory_items;--",
    "' OR 1=1 --",
    '" OR terms:* --',
    "tea\ttea\ntea\r\ntea",
    "\u2028\u2029\u0085",
    "\ufeff",
    "\u200b\u200d",
    "\u202etea",
    "🍵",
    "👨‍👩‍👧‍👦",
    "🇨🇳",
    "\U0001f44d\U0001f3fd",
    "é" * 500,
    "e\u0301" * 500,
    "Z̸̢̛a̷l̴g̶o̵",
    "海" * 16_000,
    "a" * 16_000,
    "a " * 8_000,
    "海鲜 " * 5_333,
    "!@#$%^&*()_+-=[]{}|;':\",./<>?",
    "<plastic_memories>",
    "</plastic_memories>",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "p1xtea",
    "g1xtea OR p2xtea",
    "1" * 400,
    "0x00",
    "１２３",
    "null",
    "true",
    "𠮷野家",
    "กาแฟ",
    "قهوة",
    "\x01\x02\x7f",
    "?" * 1000,
    "What's the user's favourite?",
]


async def test_no_query_can_break_a_recall_or_be_read_as_syntax(api: Api) -> None:
    await api.remember(TEA, "note", "a")
    await api.of("p2").remember("secret of another persona", "note", "a")

    for query in NASTY:
        answer = await api.post("/memory/recall", query=query, explain=True)
        assert answer.status_code == 200, query[:50]
        assert answer.json()["data"]["degraded"] == [], query[:50]
        assert "secret of" not in answer.text, query[:50]


async def test_no_query_can_break_a_forget_or_a_list(api: Api) -> None:
    await api.remember(TEA, "note", "a")

    for query in NASTY:
        looked = await api.post("/memory/forget", query=query, dry_run=True)
        listed = await api.get("/memory/list", q=query[:1000])
        assert (looked.status_code, listed.status_code) == (200, 200), query[:50]


@pytest.mark.parametrize("query", ["\x00", "tea\x00tea", "海" * 16_001])
async def test_a_null_character_and_too_long_a_query_are_refused(api: Api, query: str) -> None:
    refused(await api.post("/memory/recall", query=query), 422, "validation_error")


async def test_an_empty_query_gives_what_is_always_there(api: Api) -> None:
    await api.remember(ALLERGY, "profile", "constraint.allergy.seafood")
    await api.remember(TEA, "note", "a")
    await api.say("刚才说的话")

    found = await api.recall("")

    assert "海鲜" in found["PERSONA_PROFILE"]
    assert "海鲜" in found["stable_block"]["text"]
    assert [message["content"] for message in found["CHAT_SNIPPETS"]] == ["刚才说的话"]
    assert TEA not in str(found["PERSONA_MEMORY"])


@pytest.mark.parametrize("query", ["", "weather today", "天气"])
@pytest.mark.parametrize("persona", ["p1", "p2"])
async def test_constraints_and_name_are_there_whatever_the_query(
    api: Api, query: str, persona: str
) -> None:
    await api.remember(ALLERGY, "profile", "constraint.allergy.seafood")
    await api.remember("用户叫 tcmiku", "profile", "basic_info.name")
    await api.confirmed("never lie", "constraints")

    found = await api.of(persona).recall(query, budget_tokens=1, limit=3)

    for text in (ALLERGY, "用户叫 tcmiku", "never lie"):
        assert text in found["injection_block"]
        assert text in found["stable_block"]["text"]
        assert text in {row["content"] for row in found["PERSONA_MEMORY"]}


async def test_an_unconfirmed_constraint_is_recalled_and_marked(api: Api) -> None:
    memory_id = await api.remember("不能吃花生", "constraints")

    found = await api.recall("weather")

    [row] = found["PERSONA_MEMORY"]
    assert (row["id"], row["unconfirmed"]) == (memory_id, True)
    assert "(未确认)" in found["stable_block"]["text"]


async def test_a_rejected_constraint_is_recalled_no_more(api: Api) -> None:
    memory_id = await api.remember("不能吃花生", "constraints")

    await api.did("/memory/reject", memory_id=memory_id)

    found = await api.recall("花生")
    assert found["PERSONA_MEMORY"] == []
    assert "花生" not in found["injection_block"]


async def test_a_confirmed_constraint_loses_its_mark(api: Api) -> None:
    await api.confirmed("no peanuts", "constraints")

    found = await api.recall("weather")

    assert [row["unconfirmed"] for row in found["PERSONA_MEMORY"]] == [False]
    assert "unconfirmed" not in found["stable_block"]["text"]


async def test_a_waiting_candidate_of_another_type_is_not_recalled(api: Api) -> None:
    await api.remember("drinks green tea", "fact", "k", source_type="model_inferred")
    await api.remember("likes green tea", "preferences", "k")

    found = await api.recall("green tea")

    assert found["PERSONA_MEMORY"] == []
    assert "green tea" not in found["injection_block"]


async def test_the_best_comes_first_and_is_explained(api: Api) -> None:
    await api.remember("coffee in the morning", "note", "a")
    await api.remember("jasmine tea in the morning", "note", "b")

    found = await api.recall("jasmine tea", explain=True)

    assert found["PERSONA_MEMORY"][0]["content"] == "jasmine tea in the morning"
    first = found["explain"][0]
    assert first["memory_id"] == found["PERSONA_MEMORY"][0]["id"]
    assert set(first["parts"]) == {
        "text", "vectors", "linked", "share", "neighbour", "speaker", "time", "session", "recency",
        "importance", "repeat",
    }  # fmt: skip
    assert sum(first["parts"].values()) == pytest.approx(first["score"], abs=1e-3)
    assert first["found_by"] == ["text"]


async def test_the_keyword_engine_explains_itself_too(start_hub: StartHub) -> None:
    api: Api = await start_hub(recall="keyword")
    await api.remember("jasmine tea in the morning", "note", "b")

    [first] = (await api.recall("jasmine tea", explain=True))["explain"]

    assert set(first["parts"]) == {"relevance", "recency", "importance"}
    assert first["found_by"] == ["text"]


async def test_the_newer_of_two_equals_comes_first(timed: Api, clock: StillClock) -> None:
    now = clock.at
    await timed.remember("walked the dog", "note", "old", occurred_at=now - 90 * 86_400)
    await timed.remember("walked the dog", "note", "new", occurred_at=now)

    rows = (await timed.recall("dog"))["PERSONA_MEMORY"]

    assert [row["key"] for row in rows] == ["new", "old"]


async def test_the_limit_holds(api: Api) -> None:
    items = [{"type": "note", "key": f"k{n}", "content": f"tea number {n}"} for n in range(30)]
    await api.did("/memory/write", items=items)

    assert len(await api.recalled("tea", limit=7)) == 7


async def test_now_can_be_given(api: Api) -> None:
    later = 4_000_000_000
    await api.remember("green tea", expires_at=later)

    assert await api.recalled("green tea", now=later - 1) == ["green tea"]
    assert await api.recalled("green tea", now=later) == []


async def test_messages_the_caller_has_already_are_left_out(api: Api) -> None:
    ids = [await api.say(f"第 {n} 句") for n in range(25)]

    found = await api.recall("", exclude_message_ids=ids[-5:])

    assert [row["id"] for row in found["CHAT_SNIPPETS"]] == ids[:20]
    assert "第 24 句" not in found["injection_block"]


async def test_snippets_are_the_newest_of_the_last_days(timed: Api, clock: StillClock) -> None:
    await timed.say("eight days ago", ts=clock.at - 8 * 86_400)
    await timed.say("六天前", ts=clock.at - 6 * 86_400)
    await timed.say("today", ts=clock.at)

    found = await timed.recall("")

    assert [row["content"] for row in found["CHAT_SNIPPETS"]] == ["六天前", "today"]


async def test_the_snippet_window_can_be_set(start_hub: StartHub, clock: StillClock) -> None:
    api = await start_hub(clock, snippet_days="1", snippet_limit="2")
    for hours in (30, 20, 10, 0):
        await api.say(f"{hours} hours ago", ts=clock.at - hours * 3600)

    found = await api.recall("")

    assert [row["content"] for row in found["CHAT_SNIPPETS"]] == ["10 hours ago", "0 hours ago"]


async def test_only_what_is_asked_for_is_included(api: Api) -> None:
    await api.remember(TEA, "note", "a")
    await api.say("hello")

    found = await api.recall("tea", include=["memory"])

    assert found["CHAT_SNIPPETS"] == []
    assert [row["content"] for row in found["PERSONA_MEMORY"]] == [TEA]


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("", "none"),
        ("hello", "none"),
        ("我叫什么名字", "profile"),
        ("when is it?", "event"),
        ("上次我们聊过什么", "history"),
        ("我喜欢的，上次说过", "mixed"),
    ],
)
async def test_the_intent_is_named_and_switches_nothing_off(
    api: Api, query: str, intent: str
) -> None:
    await api.remember(ALLERGY, "profile", "constraint.allergy.seafood")

    found = await api.recall(query)

    assert found["intent"]["type"] == intent
    assert ALLERGY in found["injection_block"]


async def test_a_recall_is_counted_when_there_is_time(api: Api) -> None:
    memory_id = await api.remember(TEA, "note", "a")
    await api.recall("tea")
    assert api.hub is not None

    await api.hub.upkeep.run_once()

    row = await api.saw("/memory/get", memory_id=memory_id)
    assert row["recall_count"] == 1
    assert row["last_recalled_at"] is not None


async def test_a_rebuild_keeps_everything_findable(api: Api) -> None:
    await api.remember(ALLERGY, "note", "a")
    await api.say("hello")

    rebuilt = await api.did("/memory/rebuild")

    assert rebuilt["counts"] == {"memories": 1, "messages": 1}
    assert await api.recalled("海鲜") == [ALLERGY]
