"""From a conversation to drafts: who speaks, what holds, and where it came from."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm

OWNER = Owner("default", "ann", "miku")
LATE = datetime(2024, 5, 15, 23, 30, tzinfo=ZoneInfo("UTC")).timestamp()


def said(content: str, number: int = 1, role: Role = Role.USER) -> Message:
    return Message(owner=OWNER, role=role, content=content, ts=LATE, id=number)


def keyed(drafts: list[Draft]) -> dict[str, str]:
    return {draft.key: draft.attributes["value"] for draft in drafts}


def test_only_the_user_speaks_of_the_user() -> None:
    talk = [said("我叫初音", role=Role.ASSISTANT), said("My name is Hub", role=Role.SYSTEM)]

    assert extract_drafts(talk) == []


def test_a_statement_keeps_the_users_own_words() -> None:
    [draft] = extract_drafts([said("对了，我海鲜过敏。", 9)])

    assert (draft.type, draft.key) == (MemoryType.PROFILE, "constraint.allergy.seafood")
    assert (draft.content, draft.quote) == ("我海鲜过敏", "我海鲜过敏")
    assert (draft.source_message_ids, draft.occurred_at) == ((9,), LATE)
    assert draft.source_type is SourceType.USER_EXPLICIT


def test_a_message_that_is_not_stored_yet_gives_no_ids() -> None:
    [draft] = extract_drafts([said("叫我 tcmiku", 0)])

    assert draft.source_message_ids == ()
    assert draft.content == "叫我 tcmiku"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("My teacher is called Anna", "relationship.teacher"),
        ("My mama is a nurse", "relationship.mother.job"),
        ("I have a retriever named Rex", "relationship.pet.dog"),
        ("My puppy died", "life_event.puppy_died"),
    ],
)
def test_every_reader_knows_the_same_people_and_pets(text: str, key: str) -> None:
    [draft] = extract_drafts([said(text)])

    assert draft.key == key


def test_what_a_distant_person_does_is_not_the_users() -> None:
    assert extract_drafts([said("My teacher is a nurse")]) == []


def test_of_two_names_the_later_holds() -> None:
    drafts = extract_drafts([said("我叫小明", 1), said("我喜欢茶", 2), said("我叫小红", 3)])

    assert keyed(drafts) == {"preference.like.tea": "茶", "basic_info.name": "小红"}
    assert drafts[-1].source_message_ids == (3,)


def test_a_dislike_ends_the_like_of_the_same_thing() -> None:
    drafts = extract_drafts([said("我喜欢猫"), said("I don't like cats")])

    assert keyed(drafts) == {"preference.dislike.cat": "cats"}


def test_a_subject_left_out_is_added() -> None:
    drafts = extract_drafts([said("我叫小明，住在上海")])

    assert [draft.content for draft in drafts] == ["我叫小明", "我住在上海"]


def test_each_item_of_a_list_is_its_own_sentence() -> None:
    drafts = extract_drafts([said("我对花生和虾过敏")])

    assert [draft.content for draft in drafts] == ["我对花生过敏", "我对虾过敏"]
    assert {draft.quote for draft in drafts} == {"我对花生和虾过敏"}


@pytest.mark.parametrize(
    ("zone", "day"),
    [("UTC", "2024-05-16"), ("Asia/Shanghai", "2024-05-17"), ("No/Where", "2024-05-16")],
)
def test_tomorrow_is_the_users_tomorrow(zone: str, day: str) -> None:
    [draft] = extract_drafts([said("明天我有个面试")], zone)

    assert draft.type is MemoryType.EVENT
    assert draft.attributes["date"] == day


def test_an_event_says_what_when_and_how_it_felt() -> None:
    [draft] = extract_drafts([said("我上周五升职了")])

    assert draft.attributes == {
        "value": "2024-05-10",
        "title": "升职",
        "event_type": "achievement",
        "emotion": "positive",
        "date": "2024-05-10",
        "date_text": "上周五",
    }


def test_a_birthday_comes_every_year() -> None:
    [draft] = extract_drafts([said("我的生日是2月29日")])

    assert draft.attributes["date"] == "02-29"
    assert draft.attributes["recurrence"] == "yearly"


def test_a_lunar_birthday_is_kept_as_it_was_said() -> None:
    [draft] = extract_drafts([said("我的生日是农历八月十五")])

    assert draft.attributes["date_text"] == "农历八月十五"
    assert "date" not in draft.attributes


def test_a_clause_far_too_long_is_passed_over() -> None:
    assert extract_drafts([said("我喜欢" + "茶" * 5_000)]) == []


def test_a_subject_goes_with_its_own_clauses() -> None:
    drafts = extract_drafts([said("我养了一只狗，叫旺财。我妈妈喜欢茶，讨厌咖啡。我喜欢猫")])

    assert keyed(drafts) == {"relationship.pet.dog": "旺财", "preference.like.cat": "猫"}


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("我明天要去面试", "我 2024-05-16 要去面试"),
        ("下周末我打算去爬山", "2024-05-25至2024-05-26 我打算去爬山"),
        ("我上个月搬到了南京", "我 2024-04 搬到了南京"),
        ("后天就是我的生日了", "05-17 就是我的生日了"),
        ("I have a job interview tomorrow", "I have a job interview on 2024-05-16"),
        ("I got promoted last week", "I got promoted between 2024-05-06 and 2024-05-12"),
    ],
)
def test_a_later_reader_finds_the_day_and_not_tomorrow(content: str, kept: str) -> None:
    drafts = extract_drafts([said(content)])

    assert {draft.content for draft in drafts} == {kept}
    assert {draft.quote for draft in drafts} == {content}


def test_traditional_characters_are_understood_and_kept() -> None:
    [draft] = extract_drafts([said("對了，我對海鮮過敏")])

    assert draft.key == "constraint.allergy.seafood"
    assert (draft.content, draft.quote) == ("我對海鮮過敏", "我對海鮮過敏")
    assert draft.attributes["value"] == "海鮮"


def test_a_pet_is_named_in_the_next_clause() -> None:
    drafts = extract_drafts([said("我有只猫，它叫咪咪"), said("I have a dog, his name is Rex")])

    assert keyed(drafts) == {"relationship.pet.cat": "咪咪", "relationship.pet.dog": "Rex"}
    assert [draft.content for draft in drafts] == ["我的猫叫咪咪", "My dog is called Rex"]


def test_in_a_story_session_everything_is_a_story() -> None:
    told = Message(
        owner=OWNER, role=Role.USER, content="在故事里，我叫艾伦", ts=LATE, realm=Realm.STORY
    )

    [draft] = extract_drafts([told])

    assert (draft.key, draft.realm) == ("basic_info.name", Realm.STORY)


def test_what_the_hub_wrote_is_not_the_users_word_even_without_its_fence() -> None:
    assert extract_drafts([said("- [2024-05-01] 我叫小红\n- [2024-05-02] I live in Rome")]) == []


def test_the_same_message_is_read_again_in_another_time_zone() -> None:
    talk = [said("我明天搬家")]

    in_utc, in_shanghai = (extract_drafts(talk, zone) for zone in ("UTC", "Asia/Shanghai"))

    assert [draft.attributes["date"] for draft in in_utc] == ["2024-05-16"]
    assert [draft.attributes["date"] for draft in in_shanghai] == ["2024-05-17"]
