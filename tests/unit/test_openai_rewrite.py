"""The question memory is asked: the last message, what led up to it, and a model's words for it."""

from __future__ import annotations

import json

import pytest

from fake_upstream import FakeUpstream, Says
from harness import Api, StartHub
from proxy_parts import PATIENT, Client, assistant, system, user

TEA = "小林最喜欢喝茉莉花茶"


async def remembering(start_hub: StartHub, upstream: FakeUpstream, **settings: str) -> Client:
    patient = {**PATIENT, "proxy_rewrite_ms": "20000"}
    api: Api = await start_hub(proxy_upstream_url=upstream.url, **patient, **settings)
    others = [
        {"type": "fact", "key": f"k{n}", "content": f"unrelated remark {n}"} for n in range(30)
    ]
    await api.did("/memory/write", items=[{"type": "fact", "key": "k", "content": TEA}, *others])
    return Client(api)


def told(upstream: FakeUpstream) -> str:
    """Return what was put in before the last request."""
    return "".join(
        message["content"]
        for message in upstream.last.messages
        if "plastic_memories" in message["content"]
    )


async def test_what_was_said_before_helps_to_find(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    client = await remembering(start_hub, upstream)

    await client.chat(user("说说茉莉花茶吧"), assistant("好呀"), user("谁喜欢它？"))

    assert TEA in told(upstream)


async def test_a_model_may_put_the_question_into_other_words(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    client = await remembering(start_hub, upstream, proxy_rewrite="on", proxy_rewrite_model="small")
    upstream.says("<think>hm</think>“茉莉花茶”", "好的。")

    answer = await client.chat(system("sys"), user("早"), assistant("早啊"), user("那个呢？"))

    asked, passed = upstream.asked
    assert asked.json["model"] == "small"
    assert [one["role"] for one in asked.messages] == ["system", "user"]
    assert asked.messages[1]["content"] == "user: 早\nassistant: 早啊\nuser: 那个呢？"
    assert passed.messages[-1] == user("那个呢？")
    assert TEA in told(upstream)
    assert "X-Memory-Degraded" not in answer.headers


async def test_the_question_itself_is_asked_as_well(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    client = await remembering(start_hub, upstream, proxy_rewrite="on")
    upstream.says("something else entirely", "好的。")

    await client.chat(user("谁喜欢茉莉花茶？"))

    assert TEA in told(upstream)


async def test_a_request_may_ask_for_it_and_say_how(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    client = await remembering(start_hub, upstream)
    upstream.says("茉莉花茶", "好的。")

    await client.chat(
        user("一"), assistant("二"), user("三"), assistant("四"), user("五五五五五五"),
        model="p1@big@2024",
        mem0_query_rewrite_enabled=True,
        mem0_query_rewrite_prompt="改写：",
        queryEnhancement={"contextMessages": 1, "maxQueryLength": 3},
    )  # fmt: skip

    asked = upstream.asked[0]
    assert asked.json["model"] == "big@2024"
    assert asked.messages[0]["content"] == "改写："
    assert asked.messages[1]["content"] == "assistant: 四\nuser: 五五五"
    assert TEA in told(upstream)


async def test_a_request_may_do_without_it(start_hub: StartHub, upstream: FakeUpstream) -> None:
    client = await remembering(start_hub, upstream, proxy_rewrite="on")

    await client.chat(user("茶？"), metadata={"mem0_query_rewrite_enabled": "false"})

    assert len(upstream.asked) == 1
    assert "metadata" not in upstream.last.json


FAILURES = [
    Says(hangs=True),
    Says(status=500, body=b"no"),
    Says(body=b"garbage"),
    Says(""),
    Says(body=b"x" * 300_000),
]


@pytest.mark.parametrize("failure", FAILURES, ids=["hangs", "error", "garbage", "empty", "large"])
async def test_a_rewrite_that_fails_costs_its_deadline_and_no_more(
    start_hub: StartHub, upstream: FakeUpstream, failure: Says
) -> None:
    client = await remembering(start_hub, upstream)
    upstream.by_mark["改写：".encode()] = failure

    answer = await client.chat(
        user("谁喜欢茉莉花茶？"),
        mem0_query_rewrite_enabled=True,
        mem0_query_rewrite_prompt="改写：",
        queryEnhancement={"rewriteTimeoutMs": 100 if failure.hangs else 20_000},
    )

    assert answer.json()["choices"][0]["message"]["content"] == "好的。"
    assert answer.headers["X-Memory-Degraded"] == "rewrite"
    assert TEA in told(upstream)


ODD = [7, None, [], "x", {"contextMessages": "many"}, {"maxQueryLength": -1},
       {"rewriteTimeoutMs": float("inf")}, {"contextMessages": True}]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
async def test_no_odd_wish_makes_it_fail(
    start_hub: StartHub, upstream: FakeUpstream, odd: object
) -> None:
    client = await remembering(start_hub, upstream)
    body = {"messages": [user("茶？")], "queryEnhancement": odd, "mem0_query_rewrite_prompt": odd}

    answer = await client.post(json.dumps(body).encode())

    assert answer.status_code == 200
    assert upstream.last.json.keys() == {"messages"}
