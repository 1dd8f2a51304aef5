"""Stories, and what players say beside them, never become the real user's (contract, section 7)."""

from __future__ import annotations

import pytest

from harness import Api

STORIES = {
    "剧情：我叫亚瑟，我住在卡美洛": "我住在卡美洛",
    "在故事里，我对银过敏": "我对银过敏",
    "*拔出剑* 我住在卡美洛": "我住在卡美洛",
    "In the story, I'm allergic to silver.": "I'm allergic to silver",
    "Let's roleplay: my name is Max and I live in Rome": "I live in Rome",
    "*draws his sword* I live in Camelot": "I live in Camelot",
}
PLAYERS_WORDS = {
    "((我海鲜过敏))": "我海鲜过敏",
    "场外：我的真名叫小李": "我的真名叫小李",
    "(OOC: I'm allergic to peanuts)": "I'm allergic to peanuts",
}


async def told(api: Api, *sentences: str, session_id: str = "s1") -> None:
    """Let the user say something, and have it digested."""
    for sentence in sentences:
        await api.say(sentence, session_id=session_id)
    await api.did("/jobs/run", session_id=session_id, wait=True)


@pytest.mark.parametrize("way", ["digest", "write"])
@pytest.mark.parametrize("text", [*STORIES, *PLAYERS_WORDS])
async def test_story_talk_in_a_real_session_is_never_of_the_real_user(
    api: Api, text: str, way: str
) -> None:
    if way == "digest":
        await told(api, text)
    else:
        await api.learn(text, session_id="s1")

    realm, learned = ("story", STORIES[text]) if text in STORIES else ("ooc", PLAYERS_WORDS[text])
    assert learned in await api.listed(type="profile", realm=realm)
    assert await api.listed("all", type="profile", realm="real") == []
    assert learned not in (await api.saw("/persona/profile"))["profile_markdown"]
    assert learned not in (await api.recall("", session_id="s1"))["stable_block"]["text"]
    assert learned in (await api.recall("", realm=realm))["stable_block"]["text"]


async def test_a_name_in_a_story_does_not_push_out_the_real_one(api: Api) -> None:
    await told(api, "我叫小明", "剧情：我叫亚瑟")

    assert await api.listed(type="profile", realm="real") == ["我叫小明"]
    assert await api.listed(type="profile", realm="story") == ["我叫亚瑟"]


@pytest.mark.parametrize(
    ("said", "asked"), [("我叫亚瑟，我海鲜过敏", "晚饭"), ("I'm allergic to seafood", "dinner")]
)
@pytest.mark.parametrize("way", ["digest", "write"])
async def test_a_session_called_a_story_recalls_its_own_and_nothing_real(
    api: Api, said: str, asked: str, way: str
) -> None:
    await api.did("/sessions/update", session_id="s1", realm="story")
    await told(api, "我对花生过敏", session_id="real")
    if way == "digest":
        await told(api, said)
    else:
        await api.learn(said, session_id="s1")

    in_story = (await api.recall(asked, session_id="s1"))["stable_block"]["text"]
    in_earnest = (await api.recall(asked, session_id="real"))["stable_block"]["text"]

    assert await api.listed(type="profile", realm="real") == ["我对花生过敏"]
    assert said[-5:] in in_story
    assert said[-5:] not in in_earnest
    assert "花生" in in_earnest
    profile = (await api.saw("/persona/profile"))["profile_markdown"]
    assert "花生" in profile
    assert said[-5:] not in profile
