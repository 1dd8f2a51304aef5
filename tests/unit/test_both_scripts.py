"""Traditional and simplified Chinese find each other; what is kept stays as it was written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from harness import Api
from plastic_memories.language.checking.proposal_check import check_reply
from plastic_memories.language.checking.reply_parsing import ParsedReply
from plastic_memories.language.dates.past_references import mentioned_date_spans
from plastic_memories.language.questions.intent import detect_intent
from plastic_memories.language.questions.person_names import PersonName
from plastic_memories.language.questions.question import parse_question
from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.language.reading.realm_detection import detect_realm, without_ooc_marks
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.rules.lifecycle.tombstones import tombstone_digests
from plastic_memories.rules.lifecycle.transitions import comparable_value
from plastic_memories.rules.privacy.sensitive_spans import find_sensitive

OWNER = Owner("t", "ann", "p1")
NOW = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)
_OLDER_MARK = "37c644937f3c5d8bcca6d44b01fc8a10d30b81b0ed447b6c866ecba33588f799"
CHATTER = [
    "今天地鐵上人很多",
    "新买的键盘声音有点大",
    "the printer on the third floor is broken again",
    "週末打算整理書架",
    "下午的会议改到线上了",
]
# The same things in both scripts, what asks for them in both scripts.
THINGS = [
    ("我喜歡喝烏龍茶", "我喜欢喝乌龙茶", "烏龍茶", "乌龙茶"),
    ("鑰匙放在書櫃的抽屜裡", "钥匙放在书柜的抽屉里", "鑰匙在哪裡？", "钥匙在哪里？"),
    ("陳曉麗在臺灣開了一家麵館", "陈晓丽在台湾开了一家面馆", "陳曉麗", "陈晓丽"),
    ("姊姊養的貓叫 Momo", "姐姐养的猫叫 Momo", "姊姊的貓 Momo", "姐姐的猫 Momo"),
    ("我的 MacBook 硬碟壞了", "我的 MacBook 硬碟坏了", "MacBook 壞了", "MacBook 坏了"),
    ("鱷魚樂園的門票很貴", "鳄鱼乐园的门票很贵", "鱷魚", "鳄鱼"),
]


async def _keep(api: Api, *contents: str) -> None:
    items = [{"type": "note", "key": content, "content": content} for content in contents]
    await api.did("/memory/write", items=items)


@pytest.mark.parametrize("asked_in", [2, 3], ids=["asked-traditional", "asked-simplified"])
@pytest.mark.parametrize("written_in", [0, 1], ids=["written-traditional", "written-simplified"])
@pytest.mark.parametrize("thing", THINGS)
async def test_what_is_written_in_one_script_is_found_in_the_other(
    api: Api, thing: tuple[str, ...], written_in: int, asked_in: int
) -> None:
    await _keep(api, *CHATTER, thing[written_in])

    assert (await api.recalled(thing[asked_in]))[0] == thing[written_in]


@pytest.mark.parametrize(("said", "query"), [("後院種了櫻桃", "樱桃"), ("后院种了樱桃", "櫻桃")])
async def test_what_was_said_is_found_as_well(api: Api, said: str, query: str) -> None:
    await api.say(said, session_id="s1")

    assert said in str((await api.recall(query))["CHAT_SNIPPETS"])


@pytest.mark.parametrize("query", ["晚飯推薦什麼？", "晚饭推荐什么？", "what's for dinner?"])
@pytest.mark.parametrize("said", ["我對海鮮過敏", "我对海鲜过敏"])
async def test_a_constraint_comes_along_in_either_script(api: Api, said: str, query: str) -> None:
    await api.learn(said)
    await _keep(api, *CHATTER)

    assert said in (await api.recall(query))["injection_block"]


@pytest.mark.parametrize("again", ["我对海鲜过敏", "我對海鮮過敏"])
@pytest.mark.parametrize("said", ["我对海鲜过敏", "我對海鮮過敏"])
async def test_said_in_both_scripts_it_is_known_once(api: Api, said: str, again: str) -> None:
    await api.learn(said)
    await api.learn(again)

    assert await api.listed() == [again]


@pytest.mark.parametrize("again", ["我喜欢喝乌龙茶", "我喜歡喝烏龍茶"])
@pytest.mark.parametrize("said", ["我喜欢喝乌龙茶", "我喜歡喝烏龍茶"])
async def test_never_again_holds_in_both_scripts(api: Api, said: str, again: str) -> None:
    [item] = (await api.learn(said))["items"]
    await api.did("/memory/forget", memory_id=item["memory_id"], never_again=True)

    relearned = await api.learn(again)

    assert relearned["items"] == []
    assert relearned["skipped"]


@pytest.mark.parametrize("again", ["喜欢刺绣", "喜歡刺繡"])
@pytest.mark.parametrize("said", ["喜欢刺绣", "喜歡刺繡"])
async def test_a_value_is_stopped_and_let_in_again_in_both(api: Api, said: str, again: str) -> None:
    inferred = {"type": "fact", "key": "likes", "source_type": "model_inferred"}
    memory_id = (await api.did("/memory/write", content=said, **inferred))["memory_id"]
    await api.did("/memory/reject", memory_id=memory_id, never_again=True)
    assert (await api.did("/memory/write", content=again, **inferred))["status"] == "skipped"

    memory_id = await api.remember(again, "fact", "likes")
    await api.did("/memory/forget", memory_id=memory_id)

    assert (await api.did("/memory/write", content=said, **inferred))["updated"] is True


def test_the_same_value_in_both_scripts_is_one_value() -> None:
    one, other = (extract_drafts([_said(text)])[0] for text in ("我喜歡烏龍茶", "我喜欢乌龙茶"))

    assert (one.key, comparable_value(one)) == (other.key, comparable_value(other))
    assert one.attributes["value"] == "烏龍茶"


def test_an_older_mark_over_traditional_characters_still_holds() -> None:
    draft = Draft(type=MemoryType.FACT, key="likes", content="喜歡刺繡")
    plain = replace(draft, content="喜欢刺绣")
    now, simple = tombstone_digests(b"s", OWNER, draft), tombstone_digests(b"s", OWNER, plain)

    assert now.value_digest == simple.value_digest
    assert now.digests == simple.digests == simple.lookup_digests
    # Made by the release before this, for this secret, owner, type, key and value.
    assert _OLDER_MARK in now.lookup_digests
    assert _OLDER_MARK not in now.digests


@pytest.mark.parametrize("former", ["蘿蔔", "萝蔔", "蘿卜"])
def test_an_older_mark_over_a_key_left_as_written_still_holds(former: str) -> None:
    [draft] = extract_drafts([_said("我喜歡蘿蔔")])
    older = replace(draft, key=draft.key.replace("萝卜", former), content="")
    now, then = tombstone_digests(b"s", OWNER, draft), tombstone_digests(b"s", OWNER, older)

    assert draft.key.endswith("萝卜")
    assert {then.key_digest, then.value_digest} <= set(now.lookup_digests)
    assert then.key_digest not in now.digests


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("上個月", "上个月"),
        ("上週", "上周"),
        ("上個禮拜", "上个礼拜"),
        ("國慶", "国庆"),
        ("去年冬天", "去年冬天"),
        ("後天", "后天"),
        ("過去這一週", "过去这一周"),
        ("三個月前", "三个月前"),
        ("上個月 with Anna", "上个月 with Anna"),
    ],
)
def test_times_are_read_alike(one: str, other: str) -> None:
    spans = mentioned_date_spans(f"我{one}去了哪裡？", NOW)

    assert spans == mentioned_date_spans(f"我{other}去了哪里？", NOW)
    assert spans


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我喜歡什麼茶？", "我喜欢什么茶？"),
        ("下週的計劃", "下周的计划"),
        ("甚麼時候", "什么时候"),
        ("還記得我說過的嗎", "还记得我说过的吗"),
        ("我對 peanuts 過敏嗎？我過敏", "我对 peanuts 过敏吗？我过敏"),
    ],
)
def test_intents_are_read_alike(one: str, other: str) -> None:
    asked = detect_intent(one)

    assert asked.type is detect_intent(other).type
    assert asked.type.value != "none"
    assert asked.queries == (one,)


def test_a_question_is_taken_apart_where_it_is_written() -> None:
    text = "我妹妹叫什麼？順便問一下，其實我想問的是，她的生日是哪天？還有，她喜歡 tea 嗎？"

    texts = [probe.text for probe in parse_question(text).probes]

    assert texts == ["我妹妹叫什麼？", "她的生日是哪天？", "她喜歡 tea 嗎？"]
    plain = [probe.terms for probe in parse_question(to_simplified(text)).probes]
    assert [probe.terms for probe in parse_question(text).probes] == plain


def test_a_story_is_a_story_in_both_scripts() -> None:
    assert detect_realm("劇情：我們來到了城堡") is Realm.STORY
    assert detect_realm("*摸了摸你的頭，搖頭*") is Realm.STORY
    assert detect_realm("（場外：我明天要考試）", Realm.STORY) is Realm.OOC
    assert detect_realm("假設我是國王") is Realm.HYPOTHETICAL
    assert without_ooc_marks("（場外：我對海鮮過敏）") == "    我對海鮮過敏 "


def test_the_words_of_the_user_are_kept() -> None:
    [draft] = extract_drafts([_said("我跟我媽關係很好，我對鱷梨過敏。")])

    assert (draft.content, draft.quote) == ("我對鱷梨過敏", "我對鱷梨過敏")
    [plain] = extract_drafts([_said("我跟我妈关系很好，我对鳄梨过敏。")])
    assert draft.key == plain.key
    assert draft.attributes["value"] == "鱷梨"


@pytest.mark.parametrize("script", [str, to_simplified], ids=["traditional", "simplified"])
def test_a_model_may_answer_in_the_other_script(script: type[str]) -> None:
    said = _said("刺繡是我的愛好之一")
    item = {
        "category": "preference",
        "key": "like",
        "value": script("刺繡"),
        "quote": script("刺繡是我的愛好之一"),
    }

    proposal = check_reply(ParsedReply(profile=(item,)), TalkWindow(owner=OWNER, messages=(said,)))

    assert [draft.quote for draft in proposal.drafts] == [said.content], proposal.dropped
    [draft] = proposal.drafts
    assert (draft.content, draft.attributes["value"]) == (said.content, "刺繡")
    assert draft.key == "preference.like.刺绣"


@pytest.mark.parametrize(
    "text",
    [
        "我的密碼是 hunter2",
        "驗證碼 482913",
        "動態碼：482913",
        "安全碼是 123",
        "我的助記詞是 " + "apple " * 11 + "apple",
        "護照號碼 E12345678",
        "我的 wifi 密碼換成了 tea4two",
    ],
)
def test_a_secret_is_one_in_both_scripts(text: str) -> None:
    found = find_sensitive(text)

    assert found
    assert found == find_sensitive(to_simplified(text))


def test_a_number_of_something_else_is_no_secret_in_both_scripts() -> None:
    assert (
        find_sensitive("快遞單號 4111111111111111")
        == find_sensitive("快递单号 4111111111111111")
        == []
    )


@pytest.mark.parametrize("asked", ["陳曉麗說過什麼？", "陈晓丽说过什么？", "what did 曉麗 say?"])
@pytest.mark.parametrize("name", ["陳曉麗", "陈晓丽"])
def test_somebody_is_named_in_both_scripts(name: str, asked: str) -> None:
    assert PersonName.parse(name).is_mentioned_in(to_simplified(asked))


def _said(content: str) -> Message:
    return Message(owner=OWNER, role=Role.USER, content=content, ts=NOW.timestamp())
