"""Old messages that bear on a question, as a caller sees them, before anything was extracted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from harness import Api, StartHub, StillClock

DAY = 86_400.0
CHATTER = [
    "今天地铁上人很多",
    "I think the weather is nice today",
    "新买的键盘声音有点大",
    "the printer is broken again",
    "我觉得今天有点累",
    "just got home, feeling good",
    "楼下的面包店换了老板",
    "my phone needs a new battery",
    "下午的会议改到线上了",
    "哈哈，确实不错",
]


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    """A hub without a worker: nothing is known but what was said."""
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def _said(api: Api, query: str, **more: Any) -> list[str]:
    """Ask, and return what was quoted besides the last messages."""
    found = await api.recall(query, **more)
    assert found["degraded"] == []
    return [row["content"] for row in found["CHAT_SNIPPETS"] if row["session_id"] != "chat"]


async def _best(api: Api, query: str) -> str:
    """Ask, and return the utterance that bears most on the question."""
    found = await api.recall(query, explain=True)
    contents = {row["id"]: row["content"] for row in found["CHAT_SNIPPETS"]}
    return next(contents[row["message_id"]] for row in found["explain"] if "message_id" in row)


async def _tell(
    api: Api, at: float, *contents: str, session: str = "old", **more: Any
) -> list[int]:
    """Say things one minute after another, as two who take turns."""
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": content, "ts": at + 60 * number}
        for number, content in enumerate(contents)
    ]
    told = await api.did("/messages/append", messages=messages, session_id=session, **more)
    return list(told["message_ids"])


async def _chat(api: Api, clock: StillClock) -> None:
    """Say more than the last messages hold."""
    await _tell(api, clock.at - DAY / 2, *CHATTER * 3, session="chat")


OLD = [
    ("Priya moved to Oslo", "Where does Priya live these days?"),
    (
        "My landlord is called Mr Okafor, he fixed the boiler",
        "hey so I need to send a Christmas card to my landlord, what was his name again?",
    ),
    ("我的房东姓欧，修好了锅炉", "过年了，我想给房东寄一张贺卡，他到底姓什么来着，你还记得吗？"),
    ("小雨搬到大理去了", "我打算放假的时候去找小雨玩，她现在住在哪里？"),
    ("我把 GitHub 的恢复码放在书房抽屉里", "登录不上去了，之前说的 github 恢复码我放哪儿了来着？"),
    ("王阿姨 recommended a dentist near 人民广场", "我牙疼，人民广场那边有没有合适的地方？"),
]


@pytest.mark.parametrize(("told", "query"), OLD)
async def test_one_telling_word_finds_what_was_said(
    api: Api, clock: StillClock, told: str, query: str
) -> None:
    await _tell(api, clock.at - 20 * DAY, told)
    await _chat(api, clock)

    assert await _said(api, query) == [told]


@pytest.mark.parametrize(
    "query",
    [
        "What did Napoleon say about Waterloo?",
        "拿破仑是哪一年出生的？",
        "Napoleon 的 Waterloo？",
        "怎么了",
    ],
)
async def test_a_question_about_nothing_that_was_said_brings_nothing_old(
    api: Api, clock: StillClock, query: str
) -> None:
    await _tell(api, clock.at - 20 * DAY, *CHATTER)
    await _tell(api, clock.at - 18 * DAY, *(told for told, _ in OLD))
    await _chat(api, clock)

    assert await _said(api, query) == []


async def test_what_tells_more_stands_before_what_only_shares_a_word(
    api: Api, clock: StillClock
) -> None:
    wedding = "the wedding restaurant is the Old Mill"
    await _tell(api, clock.at - 20 * DAY, wedding)
    await _tell(api, clock.at - 15 * DAY, "that restaurant was loud", session="other")
    await _chat(api, clock)

    assert await _best(api, "Which restaurant was it for the wedding?") == wedding


async def test_what_was_just_said_does_not_stand_in_for_what_was_said_before(
    api: Api, clock: StillClock
) -> None:
    await _tell(api, clock.at - 20 * DAY, "Priya moved to Oslo")
    await _tell(api, clock.at - 3600, *(f"Priya said hi {n}" for n in range(20)), session="chat")

    assert await _said(api, "Where does Priya live these days?") == ["Priya moved to Oslo"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which restaurant did we pick for the wedding?", "You settled on the Old Mill."),
        ("婚礼我们定了哪家餐厅？", "定的是老磨坊，一共六十位。"),
        ("wedding 的 venue 定在哪里？", "老磨坊 Old Mill"),
    ],
)
async def test_the_same_question_again_finds_the_answer_it_got(
    api: Api, clock: StillClock, question: str, answer: str
) -> None:
    await _tell(api, clock.at - 10 * DAY, question, answer)
    await _chat(api, clock)
    await _tell(api, clock.at, question, session="now")

    found = await api.recall(question)

    old = [row["content"] for row in found["CHAT_SNIPPETS"] if row["session_id"] == "old"]
    assert old == [answer]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Which RESTAURANT for the  wedding?", "which restaurant for the wedding?"),
        ("婚禮我們定了哪家餐廳？", "婚礼我们定了哪家餐厅？"),
        ("Wedding 的餐廳定在哪裡？", "wedding 的餐厅定在哪里？"),
    ],
)
async def test_the_same_question_in_other_letters_is_the_same(
    api: Api, clock: StillClock, before: str, now: str
) -> None:
    await _tell(api, clock.at - 10 * DAY, before, "Old Mill 老磨坊")
    await _chat(api, clock)

    assert await _said(api, now) == ["Old Mill 老磨坊"]


async def test_a_question_that_was_asked_every_day_does_not_hide_what_was_told(
    api: Api, clock: StillClock
) -> None:
    question = "我的护照放在哪里了？"
    await _tell(api, clock.at - 70 * DAY, "护照放在书房的抽屉里")
    for days in range(60, 10, -1):
        await _tell(api, clock.at - days * DAY, question, f"第{days}次：不清楚", session=f"s{days}")
    await _chat(api, clock)

    said = await _said(api, question)

    assert "护照放在书房的抽屉里" in said
    assert question not in said


EATEN = {
    "吃了火锅 hotpot": datetime(2025, 5, 26, 12, tzinfo=UTC),
    "吃了烤鸭 duck": datetime(2025, 4, 3, 12, tzinfo=UTC),
    "吃了拉面 ramen": datetime(2025, 6, 13, 12, tzinfo=UTC),
    "公司楼下开了新店": datetime(2025, 6, 3, 12, tzinfo=UTC),
}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("上个月我吃了什么", "吃了火锅 hotpot"),
        ("前天我吃了什么", "吃了拉面 ramen"),
        ("前天我做了什么", "吃了拉面 ramen"),
        ("what did I do the day before yesterday", "吃了拉面 ramen"),
        ("the day before yesterday 我吃了啥", "吃了拉面 ramen"),
        ("6月3号我们聊了什么", "公司楼下开了新店"),
    ],
)
async def test_a_time_that_is_named_chooses(
    api: Api, clock: StillClock, query: str, wanted: str
) -> None:
    for number, (content, at) in enumerate(EATEN.items()):
        await _tell(api, at.timestamp(), content, session=f"s{number}")
    await _tell(api, clock.at - 100, *CHATTER * 3, session="chat")

    assert await _best(api, query) == wanted


async def test_a_telling_word_is_found_whenever_it_was_said(api: Api, clock: StillClock) -> None:
    for number, (content, at) in enumerate(EATEN.items()):
        await _tell(api, at.timestamp(), content, session=f"s{number}")
    await _tell(api, clock.at - 100, *CHATTER * 3, session="chat")

    said = await _said(api, "前天说的 duck 是哪家的")

    assert {"吃了烤鸭 duck", "吃了拉面 ramen"} <= set(said)


async def test_a_day_is_a_day_of_the_user(api: Api, clock: StillClock) -> None:
    await api.did("/user/settings", time_zone="Asia/Shanghai")
    # Half past midnight there, still the day before in Greenwich.
    await _tell(api, datetime(2025, 6, 12, 16, 30, tzinfo=UTC).timestamp(), "吃了拉面")
    await _tell(api, datetime(2025, 6, 12, 9, tzinfo=UTC).timestamp(), "吃了火锅", session="s2")
    await _tell(api, clock.at - 100, *CHATTER * 3, session="chat")

    assert await _best(api, "6月13号我吃了什么") == "吃了拉面"
    assert await _best(api, "6月12号我吃了什么") == "吃了火锅"


async def test_turns_come_along_unless_they_were_said_days_apart(
    api: Api, clock: StillClock
) -> None:
    await _tell(api, clock.at - 40 * DAY, "我想学潜水")
    await _tell(api, clock.at - 20 * DAY, "买了一台咖啡机", "什么牌子的？")
    await _tell(api, clock.at - 10 * DAY, "周末去看展")
    await _chat(api, clock)

    assert await _said(api, "咖啡机") == ["买了一台咖啡机", "什么牌子的？"]


@pytest.mark.parametrize("query", ["Where does Priya live these days?", "前天说了什么", "Priya?"])
async def test_what_is_gone_or_not_yours_is_never_quoted(
    api: Api, clock: StillClock, query: str
) -> None:
    at = datetime(2025, 6, 13, 12, tzinfo=UTC).timestamp()
    [deleted, answer, edited] = await _tell(
        api, at, "Priya?", "Priya moved to Oslo", "Priya 在 Rome"
    )
    await api.did("/sessions/update", session_id="tale", realm="story")
    await _tell(api, at, "Priya in a story", session="tale")
    await _tell(api, at, "Priya of a bot", session="bot", bot_id="b1")
    await _tell(api.as_("devkey2"), at, "Priya of a stranger")
    await _tell(api.of("p2"), at, "Priya of another persona")
    await _tell(api, clock.at - 100, *CHATTER * 3, session="chat")
    for message_id in (deleted, answer):
        await api.did("/messages/delete", message_id=message_id)
    await api.did("/messages/edit", message_id=edited, content="谁也没有搬家")

    assert await _said(api, query) in ([], ["谁也没有搬家"])


async def test_a_line_that_was_left_is_not_quoted(api: Api, clock: StillClock) -> None:
    at = clock.at - 20 * DAY
    first, _ = await _tell(api, at, "Priya called", "Priya moved to Rome")
    made = await api.did("/messages/branch", session_id="old", from_message_id=first)
    branch = made["branch_id"]
    await _tell(api, at + 600, "Priya moved to Oslo", branch_id=branch)
    await _chat(api, clock)

    said = await _said(api, "Where does Priya live?", session_id="old", branch_id=branch)

    assert said == ["Priya called", "Priya moved to Oslo"]


async def test_without_the_text_index_it_is_found_all_the_same(api: Api, clock: StillClock) -> None:
    await _tell(api, clock.at - 20 * DAY, "Priya moved to Oslo")
    await _chat(api, clock)
    assert api.hub is not None
    await api.hub.storage.write(
        lambda stores: stores.connection.execute("DROP TABLE fts_messages")  # type: ignore[attr-defined]
    )

    assert await _said(api, "Where does Priya live these days?") == ["Priya moved to Oslo"]


@pytest.mark.parametrize(
    ("told", "query"),
    [
        (
            ("我订了去成都的机票", "什么时候走？", "下周三早上八点"),
            "成都的机票什么时候走",
        ),
        (
            ("I booked the flight to Chengdu", "When do you leave?", "At eight on Wednesday"),
            "When does the flight to Chengdu leave?",
        ),
    ],
)
async def test_a_quotation_does_not_end_with_a_question(
    api: Api, clock: StillClock, told: tuple[str, ...], query: str
) -> None:
    await _tell(api, clock.at - 30 * DAY, *told, "嗯 fine")
    await _chat(api, clock)

    assert set(told) <= set(await _said(api, query))


@pytest.mark.parametrize("query", ["王国庆是谁", "王国庆的爱好是什么", "who is 王国庆?"])
async def test_a_name_that_looks_like_a_time_is_searched_for(
    api: Api, clock: StillClock, query: str
) -> None:
    about = "王国庆在铁路局上班，周末钓鱼"
    await _tell(api, clock.at - 30 * DAY, about)
    for number in range(30):
        await _tell(api, clock.at - (number + 2) * DAY, f"小王是谁谁的爱好？王老师问我 {number}")
    await _chat(api, clock)

    assert about in await _said(api, query)
