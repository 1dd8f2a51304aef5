"""What the proxy keeps of a conversation that comes whole with every request."""

from __future__ import annotations

from typing import Any

import pytest

from fake_upstream import FakeUpstream, Says, event
from harness import Api, StartHub
from proxy_parts import PATIENT, Client, assistant, system, user

A, B = ("user", "你好"), ("assistant", "好的。")


@pytest.fixture
async def api(start_hub: StartHub, upstream: FakeUpstream) -> Api:
    opened: Api = await start_hub(proxy_upstream_url=upstream.url, **PATIENT)
    return opened


@pytest.fixture
def client(api: Api) -> Client:
    return Client(api).with_(session_id="s1")


async def test_only_the_last_message_and_the_reply_are_kept(client: Client) -> None:
    talk = [system("sys"), user("一"), assistant("壹"), user("two"), assistant("second")]

    await client.chat(*talk, user("三 three"))

    assert await client.kept() == [("user", "三 three"), ("assistant", "好的。")]


async def test_the_history_that_comes_again_is_known(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("壹", "second", "叁")

    await client.chat(user("一"))
    await client.chat(user("一"), assistant("壹"), user("two"))
    await client.chat(user("一"), assistant("壹"), user("two"), assistant("second"), user("三"))

    texts = [text for _, text in await client.kept()]
    assert texts == ["一", "壹", "two", "second", "三", "叁"]


async def test_a_stream_is_kept_as_one_reply(client: Client, upstream: FakeUpstream) -> None:
    chunks = [b": hi\n\n", event("茉莉"), event(""), event("花 tea"), b"data: [DONE]\n\n"]
    upstream.says(Says(chunks=chunks))

    await client.chat(user("你好"), stream=True)

    assert await client.kept() == [A, ("assistant", "茉莉花 tea")]


@pytest.mark.parametrize("headers", [{}, {"session_id": "s1"}])
async def test_a_reply_that_is_tried_again_replaces(
    api: Api, upstream: FakeUpstream, headers: dict[str, str]
) -> None:
    client = Client(api).with_(**headers)
    upstream.says("早", "first", "第二", "third")
    talk = [user("早上好"), assistant("早"), user("我叫什么？")]

    await client.chat(user("早上好"))
    for _ in range(3):
        await client.chat(*talk)

    texts = [text for _, text in await client.kept()]
    assert texts == ["早上好", "早", "我叫什么？", "third"]


async def test_saying_the_same_again_is_something_new(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("1", "2", "3")

    await client.chat(user("继续"))
    await client.chat(user("继续"), assistant("1"), user("继续"))
    await client.chat(user("继续"), assistant("1"), user("继续"))

    assert [text for _, text in await client.kept()] == ["继续", "1", "继续", "3"]


async def test_a_message_the_user_rewrites_replaces_the_old_one(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("早", "茶好", "咖啡好")

    await client.chat(user("早上好"))
    await client.chat(user("早上好"), assistant("早"), user("我喜欢茶"))
    await client.chat(user("早上好"), assistant("早"), user("我喜欢咖啡"))

    texts = [text for _, text in await client.kept()]
    assert texts == ["早上好", "早", "我喜欢咖啡", "咖啡好"]


async def test_what_was_learned_from_a_rewritten_message_goes_with_it(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("早", "记住了", "记住了")
    await client.chat(user("早上好"))
    await client.chat(user("早上好"), assistant("早"), user("我住在上海"))
    await client.api.did("/jobs/run", session_id="s1", wait=True)
    before = await client.api.listed()

    await client.chat(user("早上好"), assistant("早"), user("我住在北京"))

    assert any("上海" in text for text in before)
    after = await client.api.listed()
    assert not any("上海" in text for text in after)
    assert any("北京" in text for text in after)


async def test_without_a_session_no_history_is_taken_for_changed(
    api: Api, upstream: FakeUpstream
) -> None:
    client = Client(api)
    upstream.says("早", "茶好", "咖啡好")

    await client.chat(user("早上好"))
    await client.chat(user("早上好"), assistant("早"), user("我喜欢茶"))
    await client.chat(user("早上好"), assistant("早"), user("我喜欢咖啡"))

    assert len(await client.kept()) == 6


async def test_a_reply_the_client_shows_otherwise_is_corrected(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("第一版", "第二版", "好")
    await client.chat(user("讲个故事"))
    await client.chat(user("讲个故事"))

    await client.chat(user("讲个故事"), assistant("第一版"), user("再讲"))

    assert [text for _, text in await client.kept()] == ["讲个故事", "第一版", "再讲", "好"]


async def test_going_far_back_loses_nothing(client: Client, upstream: FakeUpstream) -> None:
    upstream.says("1", "2", "3", "4")
    talk = [user("一"), assistant("1"), user("二"), assistant("2"), user("三")]
    for end in (1, 3, 5):
        await client.chat(*talk[:end])

    await client.chat(user("一"), assistant("1"), user("别的"))

    texts = [text for _, text in await client.kept()]
    assert texts == ["一", "1", "二", "2", "三", "3", "别的", "4"]


CALL: dict[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": "{}"},
}


@pytest.mark.parametrize("said", [None, "我查一下"])
async def test_a_turn_with_tools_is_one_turn(
    client: Client, upstream: FakeUpstream, said: str | None
) -> None:
    asks = {"choices": [{"index": 0, "message": {**assistant(said), "tool_calls": [CALL]}}]}
    upstream.says(Says(body=str(asks).replace("'", '"').replace("None", "null").encode()), "晴天")
    tool = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}

    await client.chat(user("天气怎么样？"), tools=[])
    await client.chat(user("天气怎么样？"), assistant(said, tool_calls=[CALL]), tool, tools=[])

    texts = [text for _, text in await client.kept()]
    assert texts == [text for text in ("天气怎么样？", said, "晴天") if text]
    assert upstream.last.messages[-1] == tool


async def test_a_reply_the_client_began_is_kept_whole(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.says("，有一座山。")

    await client.chat(user("讲个故事"), assistant("从前"))

    assert await client.kept() == [("user", "讲个故事"), ("assistant", "从前，有一座山。")]


async def test_thoughts_are_not_part_of_a_reply(client: Client, upstream: FakeUpstream) -> None:
    upstream.says("<think>\nthe user greets\n</think>\n\n早", "好")

    await client.chat(user("早上好"))
    await client.chat(user("早上好"), assistant("早"), user("再见"))

    assert [text for _, text in await client.kept()] == ["早上好", "早", "再见", "好"]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


async def test_of_parts_the_text_is_kept(client: Client) -> None:
    parts = [{"type": "text", "text": "看这只猫"}, PICTURE]

    await client.chat({"role": "user", "content": parts})
    await client.chat({"role": "user", "content": [PICTURE]})

    assert await client.kept() == [("user", "看这只猫"), ("assistant", "好的。")]


@pytest.mark.parametrize("body", [b"", b"garbage \xff", b"{}", b'{"choices":7}', b"[" * 99_999])
async def test_an_answer_that_cannot_be_read_is_passed_on_and_not_kept(
    client: Client, upstream: FakeUpstream, body: bytes
) -> None:
    upstream.says(Says(body=body))

    answer = await client.chat(user("你好"))

    assert answer.content == body
    assert await client.kept() == [A]


async def test_garbage_in_a_stream_is_passed_on_and_left_out(
    client: Client, upstream: FakeUpstream
) -> None:
    chunks = [event("好"), b"data: {broken\n\n", b"\xff\xfe\n\n", b"data: 7\n\n", event("的。")]
    upstream.says(Says(chunks=chunks))

    answer = await client.chat(user("你好"), stream=True)

    assert answer.content == b"".join(chunks)
    assert await client.kept() == [A, B]


async def test_secrets_are_masked_and_the_talk_is_known_again(
    client: Client, upstream: FakeUpstream
) -> None:
    secret = "我的密码是 hunter2abc"
    upstream.says("知道了", "嗯")

    await client.chat(user(secret))
    await client.chat(user(secret))

    kept = await client.kept()
    assert len(kept) == 2
    assert "hunter2" not in str(kept)


async def test_what_was_forgotten_is_not_kept_again(client: Client) -> None:
    await client.chat(user("我住在上海"))
    await client.api.did("/jobs/run", session_id="s1", wait=True)
    page = await client.api.saw("/memory/list")
    ids = [row["id"] for row in page["items"]]
    await client.api.did("/memory/forget", memory_ids=ids)

    await client.chat(user("我住在上海"))
    await client.api.did("/jobs/run", session_id="s1", wait=True)

    assert not any("上海" in text for text in await client.api.listed())


async def test_what_was_put_in_is_not_learned_again(client: Client, upstream: FakeUpstream) -> None:
    await client.api.remember("用户住在上海", "profile", "basic_info.city")
    await client.chat(user("我住在哪里？"))
    block = upstream.last.messages[0]["content"] + "你住在上海。"
    before = await client.api.listed("all")
    upstream.says(Says(block), "嗯")

    await client.chat(user("你记得什么？"))
    await client.chat(user("你记得什么？"), assistant(block), user("你说我住在上海"))
    await client.api.did("/jobs/run", session_id="s1", wait=True)

    known = [text for text in await client.api.listed("all") if "对话" not in text]
    assert "<plastic_memories" in block
    assert [text for text in known if "上海" in text] == before


async def test_what_is_said_becomes_memory(client: Client, upstream: FakeUpstream) -> None:
    await client.chat(user("叫我 tcmiku，我对海鲜过敏"))
    await client.api.did("/jobs/run", session_id="s1", wait=True)

    await client.with_(session_id="s2").chat(user("晚饭吃什么？"))

    told = upstream.last.messages[0]["content"]
    assert "tcmiku" in told
    assert "海鲜" in told


async def test_half_a_character_harms_nothing(client: Client, upstream: FakeUpstream) -> None:
    body = b'{"messages":[{"role":"user","content":"\\ud83d \\u0000tea"}],"odd":"\\udc00"}'

    answer = await client.post(body)

    assert answer.status_code == 200
    assert upstream.last.body == body
    assert await client.kept() == [("user", "? tea"), B]


async def test_half_a_character_in_a_name_is_refused(client: Client) -> None:
    body = b'{"messages":[{"role":"user","content":"hi"}],"metadata":{"bot_id":"\\ud83d"}}'

    assert (await client.post(body)).status_code == 400
