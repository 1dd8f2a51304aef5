"""What a user marked "never again" comes back through no summary (contract, section 5 rule 7)."""

from __future__ import annotations

from harness import Api


async def forbid(api: Api, statement: str) -> None:
    """State something, and forget it for ever."""
    await api.learn(statement, confirm=True)
    [row] = (await api.saw("/memory/list"))["items"]
    await api.did("/memory/forget", memory_id=row["id"], never_again=True)


async def digest(api: Api, *sentences: str) -> None:
    """Let the user say some sentences, and the hub learn from them."""
    for sentence in sentences:
        await api.say(sentence, session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)


async def test_a_summary_leaves_out_what_must_never_be_learned_again(api: Api) -> None:
    await forbid(api, "我对芒果过敏")

    await digest(api, "我对芒果过敏", "叫我 tcmiku")

    assert await api.listed("all", type="summary") == ["聊到：叫我 tcmiku"]
    assert "芒果" not in str(await api.listed("all"))


async def test_where_only_the_forbidden_was_said_there_is_no_summary(api: Api) -> None:
    await forbid(api, "我对芒果过敏")

    await digest(api, "我对芒果过敏")

    assert await api.listed("all") == []
