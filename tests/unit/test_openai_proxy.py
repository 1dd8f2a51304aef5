"""The proxy between a client and an upstream: what is added, and that nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from fake_upstream import MODELS, FakeUpstream, Says, event
from harness import Api, StartHub
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.key import KeyLimits
from proxy_parts import CHAT, PATIENT, Client, assistant, system, user

TEA = "我最喜欢喝茉莉花茶"
ASKED = "我喜欢喝什么茶？"


@pytest.fixture
async def api(start_hub: StartHub, upstream: FakeUpstream) -> Api:
    opened: Api = await start_hub(
        proxy_upstream_url=upstream.url + "/", proxy_upstream_key="upstream-key", **PATIENT
    )
    return opened


@pytest.fixture
def client(api: Api) -> Client:
    return Client(api)


async def test_without_an_upstream_the_refusal_says_what_to_do(start_hub: StartHub) -> None:
    api = await start_hub()

    answer = await Client(api).post({"messages": [user("hi")]})
    models = await api.http.get("/v1/models", headers=api.all_headers)

    for refusal in (answer, models):
        assert refusal.status_code == 503
        assert set(refusal.json()) == {"error"}
        assert refusal.json()["error"]["code"] == "upstream_not_configured"
        assert "PLASTIC_MEMORIES_PROXY_UPSTREAM_URL" in refusal.json()["error"]["message"]


async def test_the_reply_is_the_upstreams_own(client: Client, upstream: FakeUpstream) -> None:
    body = b'{"choices":[{"message":{"content":"\\u597d"}}],  "usage":{"total_tokens":1.50}}'
    upstream.says(Says(body=body, headers={"OpenAI-Version": "7", "X-Request-Id": "up-1"}))

    answer = await client.chat(user("hi"))

    assert answer.content == body
    assert answer.headers["OpenAI-Version"] == "7"
    assert answer.headers["X-Upstream-Request-Id"] == "up-1"
    assert "up-1" not in answer.headers["X-Request-Id"]


async def test_a_stream_is_passed_on_to_the_last_byte(
    client: Client, upstream: FakeUpstream
) -> None:
    chunks = [
        b": comment\n\n",
        event("你"),
        event("好", usage={"total_tokens": 3}),
        b"data:[DONE]\n\n: bye\n",
    ]
    upstream.says(Says(chunks=chunks))

    answer = await client.chat(user("hi"), stream=True)

    assert answer.content == b"".join(chunks)
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_an_error_of_the_upstream_comes_back_unchanged(
    client: Client, upstream: FakeUpstream, status: int
) -> None:
    body = b'{"error": {"message": "no", "type": "odd", "code": 7}}'
    upstream.says(Says(status=status, body=body, headers={"Retry-After": "9"}))

    answer = await client.post({"messages": [user("hi")]})

    assert (answer.status_code, answer.content) == (status, body)
    assert answer.headers["Retry-After"] == "9"
    assert await client.kept() == []


async def test_where_nothing_is_known_the_request_keeps_its_bytes(
    client: Client, upstream: FakeUpstream
) -> None:
    body = (
        b'{ "model":"m1", "messages" : [{"role":"user","content":[{"type":"text","text":"\\u4f60"},'
        b'{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],\n'
        b'"tools":[{"type":"function","function":{"name":"f"}}], "temperature":1.0, "seed":1e3,'
        b'"metadata":{"run":"7"}, "user":"someone", "odd":{"b":1,"a":[null,true]} }'
    )

    await client.post(body)

    assert upstream.last.body == body


async def test_what_is_remembered_is_put_in_and_nothing_else_changes(
    client: Client, upstream: FakeUpstream
) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await client.api.remember(TEA)
    body = (
        '{"temperature":1.0,  "messages":[{"role":"system","content":"You are \\u597d."} , '
        '{"role":"user","content":"我喜欢喝什么茶？","name":"\\u674e"}],"model":"m1", "x":1e2}'
    ).encode()

    answer = await client.post(body)

    sent = upstream.last
    first, block, last = sent.messages
    assert first["content"].startswith('You are 好.\n\n<plastic_memories kind="stable">')
    assert "海鲜" in first["content"]
    assert block["role"] == "system"
    assert TEA in block["content"]
    assert last == {"role": "user", "content": ASKED, "name": "李"}
    kept = (b'{"temperature":1.0,  "messages":[{"role":"system","content":"You are \\u597d.\\n',
            b'"name":"\\u674e"}],"model":"m1", "x":1e2}')  # fmt: skip
    assert all(part in sent.body for part in kept)
    added = (first["content"].removeprefix("You are 好.\n\n"), block["content"])
    # Line by line, which is never less than the whole.
    assert 0 <= int(answer.headers["X-Memory-Tokens"]) - sum(map(estimate_tokens, added)) < 40
    assert answer.headers["X-Memory-Ids"]
    assert "X-Memory-Degraded" not in answer.headers


async def test_the_prompt_begins_with_the_same_bytes_from_turn_to_turn(
    client: Client, upstream: FakeUpstream
) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await client.api.remember(TEA)
    talk = [system("You are kind."), user("晚饭吃什么？")]

    await client.chat(*talk)
    await client.chat(*talk, assistant("好的。"), user(ASKED))

    prefixes = [asked.body.partition(b'kind=\\"turn')[0] for asked in upstream.asked]
    assert upstream.asked[0].messages[0] == upstream.asked[1].messages[0]
    assert upstream.asked[1].body.startswith(prefixes[0].rpartition(b'{"role"')[0])


POSITIONS = [
    ({}, [0, 1, 2, "turn", 3]),
    ({"proxy_position": "depth", "proxy_depth": "3"}, [0, "turn", 1, 2, 3]),
    ({"proxy_position": "depth", "proxy_depth": "0"}, [0, 1, 2, 3, "turn"]),
    ({"proxy_position": "depth", "proxy_depth": "99"}, [0, "turn", 1, 2, 3]),
    ({"proxy_position": "system"}, [0, 1, 2, 3]),
    ({"proxy_role": "user"}, [0, 1, 2, "turn", 3]),
]


@pytest.mark.parametrize(("settings", "order"), POSITIONS)
async def test_the_turn_block_goes_where_it_is_told(
    start_hub: StartHub, upstream: FakeUpstream, settings: dict[str, str], order: list[Any]
) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url, **PATIENT, **settings)
    await api.remember(TEA)
    talk = [system("sys"), user("早"), assistant("早啊"), user(ASKED)]

    await Client(api).chat(*talk)

    sent = upstream.last.messages
    plain = [one for one in sent if "plastic_memories" not in one["content"] or one is sent[0]]
    assert [one["content"] for one in plain[1:]] == ["早", "早啊", ASKED]
    places = ["turn" if one not in plain else plain.index(one) for one in sent]
    assert places == order
    [holder] = [one for one in sent if TEA in one["content"]]
    is_system = settings.get("proxy_position") == "system"
    assert holder["role"] == ("system" if is_system else settings.get("proxy_role", "system"))
    assert (holder is sent[0]) is is_system


async def test_without_a_system_message_one_is_put_first(
    client: Client, upstream: FakeUpstream
) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")

    await client.chat(user("晚饭吃什么？"))

    assert upstream.last.messages[0]["role"] == "system"
    assert "海鲜" in upstream.last.messages[0]["content"]


async def test_a_system_message_in_parts_gets_one_part_more(
    client: Client, upstream: FakeUpstream
) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    part = {"type": "text", "text": "sys", "cache_control": {"type": "ephemeral"}}

    await client.chat({"role": "developer", "content": [part]}, user("hi"))

    first, added = upstream.last.messages[0]["content"]
    assert first == part
    assert added["type"] == "text"
    assert "海鲜" in added["text"]


async def test_what_the_client_shows_already_is_not_quoted_again(
    client: Client, upstream: FakeUpstream
) -> None:
    named = client.with_(session_id="s1")
    await named.chat(user("今天去了图书馆"))
    await client.with_(session_id="s2").chat(user("昨天去了游泳馆"))

    await named.chat(user("今天去了图书馆"), assistant("好的。"), user("猜猜我去了哪里"))

    sent = upstream.last.body.decode()
    assert sent.count("今天去了图书馆") == 1
    assert sent.count("昨天去了游泳馆") == 1


async def test_nothing_of_the_hubs_own_goes_upstream(
    client: Client, upstream: FakeUpstream
) -> None:
    named = client.with_(session_id="s-1", source_app="web", bot_id="b-1", api_key="devkey")

    await named.chat(user("hi"))

    headers = upstream.last.headers
    assert headers["authorization"] == "Bearer upstream-key"
    assert not {name for name in headers if name.startswith(("x-", "cookie"))}
    assert "devkey" not in str(headers)


async def test_other_headers_go_upstream(client: Client, upstream: FakeUpstream) -> None:
    await Client(client.api, headers={"OpenAI-Beta": "b1", "X-Title": "t", "TE": "trailers"}).chat(
        user("hi")
    )

    headers = upstream.last.headers
    assert (headers["openai-beta"], headers["x-title"]) == ("b1", "t")
    assert "te" not in headers


IDENTITIES: list[tuple[dict[str, str], dict[str, Any], str]] = [
    ({"X-Persona-Id": "a"}, {"metadata": {"persona_id": "b"}, "model": "c@m"}, "a"),
    ({}, {"metadata": {"persona_id": "b"}, "model": "c@m"}, "b"),
    ({}, {"metadata": {"X-Persona-Id": "b"}}, "b"),
    ({}, {"model": "小雨@m"}, "小雨"),
    ({"X-Persona-Id": "%E5%B0%8F%E9%9B%A8"}, {}, "小雨"),
    ({}, {}, "default"),
    ({}, {"model": "@cf/meta/llama"}, "default"),
]


@pytest.mark.parametrize(("headers", "body", "persona"), IDENTITIES)
async def test_whose_conversation_it_is(
    api: Api, headers: dict[str, str], body: dict[str, Any], persona: str
) -> None:
    await Client(api, headers=headers).chat(user("你好"), **body)

    assert await Client(api.of(persona)).kept() == [("user", "你好"), ("assistant", "好的。")]


MODEL_NAMES = [
    ({}, "小雨@gpt@2024", "gpt@2024"),
    ({"X-Persona-Id": "p1"}, "claude@2024", "claude@2024"),
    ({"X-Persona-Id": "p1"}, "p1@claude@2024", "claude@2024"),
    ({}, "@cf/meta/llama", "@cf/meta/llama"),
]


@pytest.mark.parametrize(("headers", "model", "sent"), MODEL_NAMES)
async def test_the_upstream_gets_its_own_name_of_the_model(
    api: Api, upstream: FakeUpstream, headers: dict[str, str], model: str, sent: str
) -> None:
    await Client(api, headers=headers).chat(user("hi"), model=model)

    assert upstream.last.json["model"] == sent


async def test_what_is_meant_for_the_hub_is_taken_out(
    client: Client, upstream: FakeUpstream
) -> None:
    await client.chat(
        user("hi"),
        metadata={"session_id": "s1", "Source-App": "web", "run": "7"},
        mem0_query_rewrite_enabled=False,
        mem0_query_rewrite_prompt="p",
        queryEnhancement={"contextMessages": 2},
        odd=1,
    )
    await client.chat(user("hi"), metadata={"session_id": "s1"})

    first, second = (asked.json for asked in upstream.asked)
    assert first == {"model": "m1", "messages": [user("hi")], "metadata": {"run": "7"}, "odd": 1}
    assert second.keys() == {"model", "messages"}
    assert len(await client.kept(session_id="s1", source_app="web")) == 2


async def test_an_app_key_names_its_user_in_header_metadata_or_body(
    client: Client, upstream: FakeUpstream
) -> None:
    app = Client(client.api, key="appkey")

    refused = await app.post({"messages": [user("hi")]})
    await app.with_(user_id="小明".encode()).chat(user("一"), user="other")
    await app.chat(user("二"), metadata={"user_id": "小明"}, user="other")
    await app.chat(user("三"), user="小明")

    assert refused.status_code == 400
    assert "X-User-Id" in refused.json()["error"]["message"]
    kept = await Client(client.api.as_("appkey", "小明")).kept()
    assert [text for role, text in kept if role == "user"] == ["一", "二", "三"]
    assert upstream.last.json["user"] == "小明"


async def test_the_body_names_no_user_for_a_user_key(client: Client) -> None:
    await client.with_(user_id="userB").chat(user("hi"), user="userB")

    assert await client.kept()
    assert await Client(client.api.as_("devkey2")).kept() == []


async def test_another_user_is_told_nothing(client: Client, upstream: FakeUpstream) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")

    await Client(client.api, key="devkey2").chat(user("海鲜"))

    assert upstream.last.messages == [user("海鲜")]


async def test_a_bot_sees_its_own_memories_only(client: Client, upstream: FakeUpstream) -> None:
    await client.api.remember(TEA, bot_id="b1")

    await client.with_(bot_id="b2").chat(user(ASKED))
    await client.with_(bot_id="b1").chat(user(ASKED))

    assert [TEA in asked.body.decode() for asked in upstream.asked] == [False, True]


async def test_a_story_is_told_from_the_story(client: Client, upstream: FakeUpstream) -> None:
    await client.api.did("/sessions/update", session_id="s1", realm="story")
    await client.api.remember("公主最喜欢喝玫瑰花茶", realm="story")
    await client.api.remember(TEA)

    await client.with_(session_id="s1").chat(user("谁喜欢喝茶？"))

    assert "公主最喜欢喝玫瑰花茶" in upstream.last.body.decode()
    assert TEA not in upstream.last.body.decode()


async def test_memory_can_be_left_out_of_a_request(client: Client, upstream: FakeUpstream) -> None:
    await client.api.remember(TEA)

    await client.with_(memory="off").chat(user(ASKED))

    assert upstream.last.messages == [user(ASKED)]
    assert await client.kept() == []


REFUSED = [
    (b"not json", 400),
    (b"[1]", 400),
    (b'{"a":1}{"b":2}', 400),
    (b'{"a":"\xff"}', 400),
    (b"[" * 100_000, 400),
    (b'{"messages":' + b"[" * 100_000, 400),
]


@pytest.mark.parametrize(("body", "status"), REFUSED)
async def test_what_cannot_be_read_is_refused_in_openais_shape(
    client: Client, upstream: FakeUpstream, body: bytes, status: int
) -> None:
    answer = await client.post(body)

    assert answer.status_code == status
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert upstream.asked == []


@pytest.mark.parametrize("messages", [None, "hi", [1], {}, [[]]])
async def test_messages_we_do_not_understand_are_left_to_the_upstream(
    client: Client, upstream: FakeUpstream, messages: Any
) -> None:
    body = json.dumps({"messages": messages}).encode()

    await client.post(body)

    assert upstream.last.body == body


@pytest.mark.parametrize(
    "messages",
    [[], [{}], [{"role": 7, "content": 8}], [{"role": "user"}], [user("")], [assistant(None)]],
)
async def test_no_message_makes_it_fail(client: Client, messages: list[Any]) -> None:
    await client.api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")

    answer = await client.post({"messages": messages})

    assert answer.status_code == 200


async def test_refusals_have_openais_shape(client: Client) -> None:
    wrong = await Client(client.api, key="wrong").post({"messages": []})
    none = await client.api.http.post(CHAT, json={"messages": []})
    bad_name = await client.with_(session_id="x" * 300).post({"messages": [user("hi")]})
    bad_user = await Client(client.api, key="appkey").post({"messages": [], "user": "a\n"})

    assert [one.status_code for one in (wrong, none, bad_name, bad_user)] == [401, 401, 400, 400]
    assert wrong.json()["error"]["type"] == "authentication_error"
    assert none.headers["WWW-Authenticate"] == "Bearer"


async def test_a_key_is_held_to_its_limits(client: Client, upstream: FakeUpstream) -> None:
    assert client.api.hub is not None
    keys = client.api.hub.keys
    bound, _ = await keys.create("default", "userA", "one", KeyLimits(persona_id="p1"))
    reads, _ = await keys.create("default", "userA", "two", KeyLimits(read_only=True))
    app, _ = await keys.create("default", "userA", "three", KeyLimits(source_app="pet"))
    await client.api.remember(TEA)

    other = await Client(client.api, bound, {"X-Persona-Id": "p2"}).post({"messages": [user("1")]})
    await Client(client.api, bound, {}).chat(user("2"))
    await Client(client.api, reads).chat(user(ASKED))
    strange = await Client(client.api, app).with_(source_app="web").post({"messages": [user("3")]})
    await Client(client.api, app).chat(user("4"))

    assert (other.status_code, strange.status_code) == (403, 403)
    assert TEA in upstream.asked[1].body.decode()
    assert [text for role, text in await client.kept() if role == "user"] == ["2", "4"]
    assert len(await client.kept(source_app="pet")) == 2


async def test_the_rate_limit_holds(start_hub: StartHub, upstream: FakeUpstream) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url, rate_limit="2/minute")
    client = Client(api)

    answers = [await client.post({"messages": [user("hi")]}) for _ in range(3)]

    assert [one.status_code for one in answers] == [200, 200, 429]
    assert answers[2].json()["error"]["type"] == "rate_limit_error"
    assert int(answers[2].headers["Retry-After"]) > 0


async def test_a_body_over_the_limit_is_refused(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url, max_body_bytes="1000")

    answer = await Client(api).post({"messages": [user("x" * 2000)]})

    assert answer.status_code == 413
    assert answer.json()["error"]["message"]
    assert upstream.asked == []


async def test_a_redirect_is_not_followed(client: Client, upstream: FakeUpstream) -> None:
    upstream.says(Says(status=307, body=b"", headers={"Location": "http://127.0.0.1:1/v1"}))

    answer = await client.post({"messages": [user("hi")]})

    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_redirect"
    assert "Location" not in answer.headers


async def models(api: Api, **headers: str) -> httpx.Response:
    return await api.http.get("/v1/models", headers={**api.all_headers, **headers})


async def test_models_are_the_upstreams_and_persona_at_model(api: Api) -> None:
    await api.did("/persona/create", persona_id="小雨")
    await api.as_("devkey2").did("/persona/create", persona_id="hers")

    found = await models(api)

    ids = [one["id"] for one in found.json()["data"]]
    assert ids == ["m1", "m2", "小雨@m1", "小雨@m2"]
    assert found.content.startswith(MODELS[:-2])


async def test_without_personas_the_list_is_as_it_came(api: Api) -> None:
    assert (await models(api)).content == MODELS
    assert (await models(api.as_("appkey"))).content == MODELS
    assert (await models(api.as_("wrong"))).status_code == 401


async def test_pages_may_read_what_was_remembered(client: Client) -> None:
    page = {"Origin": "http://localhost:3000"}

    answer = await Client(client.api, headers=page).chat(user("hi"))

    exposed = answer.headers["Access-Control-Expose-Headers"]
    assert {"X-Memory-Degraded", "X-Memory-Tokens", "X-Memory-Ids"} <= set(exposed.split(", "))
    assert answer.headers.get_list("Access-Control-Allow-Origin") == ["http://localhost:3000"]
