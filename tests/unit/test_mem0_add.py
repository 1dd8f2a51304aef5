"""What `add` remembers of talk, and how searches find it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness import Api, StartHub, StillClock
from mem0_caller import Mem0
from plastic_memories.hub.conversation.ingest import IngestAttributes, IngestConversation
from plastic_memories.model.formation import KEEP, Verdict
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner


@pytest.fixture
def mem0(api: Api) -> Mem0:
    return Mem0.of(api)


async def said(mem0: Mem0, *texts: str, **more: Any) -> list[str]:
    return [one["memory"] for one in await mem0.add(*texts, infer=True, **more)]


@pytest.mark.parametrize(
    ("text", "memories"),
    [
        ("叫我小林，我对海鲜过敏", ["叫我小林", "我对海鲜过敏"]),
        ("I'm allergic to peanuts", ["I'm allergic to peanuts"]),
        ("我喜欢 green tea", ["我喜欢 green tea"]),
    ],
)
async def test_what_the_user_says_of_themself_is_active_at_once(
    api: Api, mem0: Mem0, text: str, memories: list[str]
) -> None:
    learned = await said(mem0, text)

    assert sorted(learned) == sorted(memories)
    assert sorted(await api.of("default").listed()) == sorted(memories)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("项目的截止日期是下周五，由王工负责", "截止日期"),
        ("The project deadline is next Friday and Bob leads it.", "who leads the project?"),
        ("服务器的 staging 环境在二号机房", "staging 机房"),
    ],
)
async def test_a_statement_no_rule_reads_is_kept_in_the_users_words(
    mem0: Mem0, text: str, query: str
) -> None:
    assert await said(mem0, text) == [text]
    assert await mem0.found(query) == [text]


@pytest.mark.parametrize(
    ("text", "memories"),
    [
        (
            "我喜欢爵士乐。我妹妹小雨六月十二号结婚。",
            ["我喜欢爵士乐", "我妹妹小雨六月十二号结婚。"],
        ),
        (
            "The staging server is called Juniper. I'm allergic to peanuts! Is that all?",
            ["I'm allergic to peanuts", "The staging server is called Juniper."],
        ),
        ("叫我小林。你好！项目由王工负责。谢谢", ["叫我小林", "项目由王工负责。"]),
    ],
)
async def test_a_sentence_no_rule_reads_is_kept_beside_one_that_is_read(
    mem0: Mem0, text: str, memories: list[str]
) -> None:
    assert sorted(await said(mem0, text)) == sorted(memories)
    assert sorted(await mem0.listed()) == sorted(memories)


@pytest.mark.parametrize(
    "text", ["你好", "hello!", "明天天气怎么样？", "what should I cook?", "谢谢"]
)
async def test_where_nothing_is_stated_nothing_is_invented_and_nothing_lost(
    api: Api, mem0: Mem0, text: str
) -> None:
    assert await said(mem0, text) == []

    kept = await api.of("default").saw("/messages/recent")
    assert [row["content"] for row in kept["messages"]] == [text]


async def test_a_resent_conversation_is_kept_once(api: Api, mem0: Mem0) -> None:
    await said(mem0, "我喜欢绿茶", run_id="r1")

    again = await mem0.add("我喜欢绿茶", "我喜欢咖啡", infer=True, run_id="r1")

    kept = await api.of("default").saw("/messages/recent")
    assert len(kept["messages"]) == 2
    assert [(one["memory"], one["event"]) for one in again] == [
        ("我喜欢绿茶", "NONE"),
        ("我喜欢咖啡", "ADD"),
    ]


async def test_what_was_corrected_in_the_same_talk_is_not_kept(mem0: Mem0) -> None:
    assert await said(mem0, "叫我小林吧，这是我的名字", "叫我小王吧，这是我的名字") == [
        "叫我小王吧"
    ]
    assert await mem0.listed() == ["叫我小王吧"]


async def test_a_model_reads_the_talk_afterwards_if_there_is_one(start_hub: StartHub) -> None:
    api = await start_hub(
        judge="llm", llm_base_url="http://127.0.0.1:1", llm_model="m", worker="off"
    )

    learned = await said(Mem0.of(api), "叫我小林")

    [job] = (await api.saw("/jobs"))["items"]
    assert learned == ["叫我小林"]
    assert (job["trigger"], job["status"]) == ("explicit", "pending")


async def test_a_newer_statement_is_an_update_of_the_same_memory(mem0: Mem0) -> None:
    [first] = await mem0.add("叫我小林", infer=True)

    [second] = await mem0.add("叫我小王", infer=True)

    assert (second["id"], second["event"]) == (first["id"], "UPDATE")
    assert second["previous_memory"] == "叫我小林"
    assert await mem0.listed() == ["叫我小王"]


async def test_what_stands_against_a_surer_word_waits_and_is_not_returned(
    api: Api, mem0: Mem0
) -> None:
    persona = api.of("default")
    await persona.remember("我最喜欢的颜色是蓝色", "fact", "persona.favorite_color")
    red = {"messages": {"role": "assistant", "content": "我最喜欢的颜色是红色"}}

    added = await mem0.did("POST", "/memories", json=red)

    assert added["results"] == []
    assert await mem0.listed() == ["我最喜欢的颜色是蓝色"]
    assert await persona.listed("candidate") == ["我最喜欢的颜色是红色"]


class Guessing:
    """A judge that infers something from whatever is said."""

    def assess(self, draft: Draft) -> Verdict:
        return KEEP

    def extract(self, talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
        return [
            Draft(
                type=MemoryType.PROFILE,
                key="personality.mood",
                content=f"猜测：{message.content}",
                source_type=SourceType.MODEL_INFERRED,
                source_message_ids=(message.id,),
            )
            for message in talk
        ]


async def test_a_candidate_nothing_stands_against_is_confirmed(api: Api) -> None:
    hub = api.hub
    assert hub is not None
    take_in = IngestConversation(hub.storage, hub.screening, Guessing(), hub.messages)
    key = await hub.keys.authenticate("devkey")
    owner = Owner("default", "userA", "p1")
    caller = Caller(user=owner.user, key=key)

    def says(text: str) -> list[Message]:
        return [Message(owner=owner, role=Role.USER, content=text, ts=1.0)]

    first = (await take_in.extract(caller, owner, says("开心"), IngestAttributes())).outcomes
    second = (await take_in.extract(caller, owner, says("难过"), IngestAttributes())).outcomes

    assert [one.memory.content for one in first] == ["猜测：开心"]
    assert second == []
    assert await api.listed() == ["猜测：开心"]
    assert await api.listed("candidate") == ["猜测：难过"]


async def test_word_for_word_means_every_message(mem0: Mem0) -> None:
    messages = [
        {"role": "user", "content": "你好"},
        {"role": "assistant", "content": "今天喝什么茶？"},
        {"role": "user", "content": [{"type": "text", "text": "绿茶"}, {"type": "image_url"}]},
    ]

    added = await mem0.did("POST", "/memories", json={"messages": messages, "infer": False})

    assert [(one["memory"], one["role"]) for one in added["results"]] == [
        ("你好", "user"),
        ("今天喝什么茶？", "assistant"),
        ("绿茶", "user"),
    ]


async def test_word_for_word_is_not_learned_from(api: Api, mem0: Mem0) -> None:
    await mem0.add("叫我小林，我对海鲜过敏")

    kept = await api.of("default").saw("/messages/recent")
    assert kept["messages"] == []
    assert await mem0.listed() == ["叫我小林，我对海鲜过敏"]


async def test_a_text_alone_and_a_message_alone_are_taken_too(mem0: Mem0) -> None:
    for messages in ("我喜欢绿茶", {"role": "user", "content": "我喜欢咖啡"}):
        await mem0.did("POST", "/memories", json={"messages": messages})

    assert sorted(await mem0.listed()) == ["我喜欢咖啡", "我喜欢绿茶"]


async def test_metadata_comes_back_and_can_be_filtered_on(mem0: Mem0) -> None:
    await mem0.add("我喜欢绿茶", infer=True, metadata={"place": "家", "n": 3})
    await mem0.add("我喜欢咖啡", infer=True, metadata={"place": "公司", "n": 5})

    everything = await mem0.did("POST", "/v3/memories/", json={"filters": {"place": "家"}})

    assert [row["metadata"] for row in everything["results"]] == [{"place": "家", "n": 3}]
    assert await mem0.found("喜欢", filters={"metadata": {"n": {"gt": 4}}}) == ["我喜欢咖啡"]
    assert await mem0.found("喜欢", filters={"NOT": [{"place": "家"}]}) == ["我喜欢咖啡"]


async def test_too_much_metadata_is_refused(mem0: Mem0) -> None:
    body = {"messages": "x y z", "metadata": {"a": "x" * 5000}}

    await mem0.refused(422, "POST", "/memories", json=body)


async def test_a_memory_is_good_up_to_its_last_day(start_hub: StartHub, clock: StillClock) -> None:
    mem0 = Mem0.of(await start_hub(clock))  # 2025-06-15, in the afternoon
    await mem0.add("茶在柜子里", expiration_date="2025-06-15")
    [row] = (await mem0.did("GET", "/memories"))["results"]

    clock.at += 86_400

    assert row["expiration_date"] == "2025-06-15"
    assert await mem0.listed() == []
    assert await mem0.found("茶") == []
    shown = await mem0.did("GET", "/memories", params={"show_expired": "true"})
    assert [one["memory"] for one in shown["results"]] == ["茶在柜子里"]


async def test_the_last_day_can_be_taken_away(start_hub: StartHub, clock: StillClock) -> None:
    mem0 = Mem0.of(await start_hub(clock))
    memory_id = await mem0.id_of("茶在柜子里", expiration_date="2025-06-15")

    await mem0.did("PUT", f"/memories/{memory_id}", json={"expiration_date": None})
    clock.at += 86_400

    assert await mem0.listed() == ["茶在柜子里"]


async def test_a_day_that_is_none_is_refused(mem0: Mem0) -> None:
    body = {"messages": "x y z", "expiration_date": "2025-02-30"}

    await mem0.refused(400, "POST", "/memories", json=body)


async def test_secrets_are_not_kept(api: Api, mem0: Mem0) -> None:
    body = {"messages": "我的密码是hunter2secret", "infer": False}

    reason = await mem0.refused(400, "POST", "/memories", json=body)
    learned = await said(mem0, "我的密码是hunter2secret")

    assert "credential" in reason
    assert learned == []
    assert "hunter2" not in str(await api.of("default").saw("/messages/recent"))
    assert "hunter2" not in str(await mem0.did("GET", "/memories"))


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("text", ["我对海鲜过敏", "项目的截止日期是下周五，由王工负责"])
async def test_never_again_holds_here(api: Api, mem0: Mem0, text: str, infer: bool) -> None:
    await mem0.add(text, infer=infer)
    persona = api.of("default")
    ids = [row["id"] for row in (await persona.saw("/memory/list"))["items"]]
    await persona.did("/memory/forget", memory_ids=ids, never_again=True)

    again = await mem0.did("POST", "/memories", json={"messages": text, "infer": infer})

    assert again["results"] == []
    assert again["skipped"] == [{"memory": text, "reason": "forgotten, never again"}]
    assert await mem0.listed() == []


async def test_a_run_is_a_filter_not_a_wall(mem0: Mem0) -> None:
    await mem0.add("我喜欢绿茶", run_id="r1")
    await mem0.add("我喜欢红茶", run_id="r2")

    assert sorted(await mem0.found("茶")) == ["我喜欢红茶", "我喜欢绿茶"]
    assert await mem0.found("茶", run_id="r1") == ["我喜欢绿茶"]
    assert await mem0.listed(run_id="r2") == ["我喜欢红茶"]


async def test_more_than_ten_are_found_if_more_are_asked_for(mem0: Mem0) -> None:
    await mem0.add(*(f"第{number}种绿茶" for number in range(40)))

    assert len(await mem0.found("绿茶", top_k=35)) == 35
    assert len(await mem0.found("绿茶", limit=3)) == 3
    assert len(await mem0.found("绿茶")) == 20


async def test_a_filter_does_not_eat_the_results(mem0: Mem0) -> None:
    await mem0.add(*(f"green tea number {number}" for number in range(60)))
    await mem0.add("one green tea of mine", metadata={"mine": True})
    await mem0.add("another tea", metadata={"mine": True})

    found = await mem0.found("green tea", top_k=2, filters={"mine": True})

    assert found == ["one green tea of mine", "another tea"]


async def test_a_threshold_cuts_by_the_score_that_is_shown(mem0: Mem0) -> None:
    await mem0.add("I drink green tea every morning", "the tea shop closes at nine")
    found = await mem0.did("POST", "/search", json={"query": "green tea every morning"})
    best, other = (row["score"] for row in found["results"])

    between = (best + other) / 2

    assert await mem0.found("green tea every morning", threshold=between) == [
        "I drink green tea every morning"
    ]
    assert await mem0.found("green tea every morning", threshold=0.999) == []
    await mem0.refused(422, "POST", "/search", json={"query": "x", "threshold": 2})


async def test_scores_compare_across_personas(mem0: Mem0) -> None:
    await mem0.add("tea", agent_id="weak")
    await mem0.add("I drink green jasmine tea every morning", agent_id="strong")

    found = await mem0.found("who drinks green jasmine tea every morning")

    assert found == ["I drink green jasmine tea every morning", "tea"]


async def test_allergies_come_along_with_every_search(mem0: Mem0) -> None:
    await said(mem0, "我对海鲜过敏")

    found = await mem0.did("POST", "/search", json={"query": "晚饭推荐什么"})

    assert [(row["memory"], row["score"]) for row in found["results"]] == [("我对海鲜过敏", 0.1)]
    assert await mem0.found("晚饭推荐什么", threshold=0.2) == []


async def test_an_unknown_operator_is_named(mem0: Mem0) -> None:
    await mem0.add("茶在柜子里")

    filters = {"place": {"like": "x"}}

    reason = await mem0.refused(400, "POST", "/search", json={"query": "茶", "filters": filters})
    assert "like" in reason


async def test_categories_are_the_type_and_the_tags(api: Api, mem0: Mem0) -> None:
    await api.remember("绿茶", "fact", "a", tags=["drink"])
    await api.remember("面包", "fact", "b", tags=["food"])

    assert await mem0.listed(categories={"contains": "drink"}) == ["绿茶"]
    listed = await mem0.did("POST", "/v3/memories/", json={"categories": ["food"]})
    assert [row["categories"] for row in listed["results"]] == [["fact", "food"]]


async def test_names_in_a_group_become_actors(mem0: Mem0) -> None:
    messages = [{"role": "user", "name": "小红", "content": "我喜欢绿茶"}]

    added = await mem0.did("POST", "/memories", json={"messages": messages, "infer": False})

    assert added["results"][0]["actor_id"] == "小红"
    assert await mem0.listed(actor_id="小红") == ["我喜欢绿茶"]
