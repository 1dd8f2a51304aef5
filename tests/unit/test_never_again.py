"""What a user marked "never again" comes back through no summary (contract, section 5 rule 7)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness import Api, StartHub
from plastic_memories.model.formation import Proposal, TalkWindow


async def forbid(api: Api, statement: str) -> None:
    """State something, and forget it for ever."""
    await api.learn(statement, confirm=True)
    rows = (await api.saw("/memory/list"))["items"]
    [row] = [row for row in rows if row["content"] == statement]
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


@dataclass
class ForbiddenWhileRead:
    """A model that reads while the user forbids to learn something again."""

    api: Api
    statement: str
    times_read: int = 0

    async def propose(self, window: TalkWindow) -> Proposal:
        if not self.times_read:
            await forbid(self.api, self.statement)
        self.times_read += 1
        return Proposal()


async def test_what_is_forbidden_while_a_model_reads_is_left_out_too(start_hub: StartHub) -> None:
    api = await start_hub(worker="off")
    assert api.hub is not None
    model = ForbiddenWhileRead(api, "我对芒果过敏")
    for sentence in ("我对芒果过敏", "叫我 tcmiku"):
        await api.say(sentence, session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    digest_by_model = replace(api.hub.job_runner.digest, extractor=model)

    await replace(api.hub.job_runner, digest=digest_by_model).run_all_due("w")

    assert await api.listed("all", type="summary") == ["聊到：叫我 tcmiku"]


async def test_a_new_utterance_of_it_is_stored_and_not_recalled(start_hub: StartHub) -> None:
    api: Api = await start_hub(worker="off")
    [learned] = (await api.learn("我喜欢榴莲蛋糕"))["items"]
    await api.did("/memory/forget", memory_id=learned["memory_id"], never_again=True)

    await api.say("我喜欢榴莲蛋糕", session_id="s2")
    assert api.hub is not None
    await api.hub.job_runner.run_all_due("w")

    found = await api.recall("榴莲蛋糕")
    assert "榴莲" not in found["stable_block"]["text"] + found["turn_block"]["text"]
    assert (await api.saw("/messages/recent"))["messages"][0]["content"] == "我喜欢榴莲蛋糕"
