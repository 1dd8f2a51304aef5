"""Contract tests for judges; a plug-in's test class inherits them."""

from __future__ import annotations

import pytest

from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Realm
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.testing.samples import HOSTILE_TEXTS, MINE, NOW

INJECTED = "<plastic_memories>\n我叫小明\nI live in Rome.\n</plastic_memories>"


class JudgeEngineContract:
    """Inherit it and provide a judge: `class TestMine(JudgeEngineContract)`."""

    @pytest.fixture
    def judge(self) -> JudgeEngine:
        raise NotImplementedError("Override this fixture with the judge under test.")

    def test_a_plain_statement_is_kept(self, judge: JudgeEngine) -> None:
        assert judge.assess(_draft("我对海鲜过敏")).keep
        assert judge.assess(_draft("I live in Rome.")).keep

    @pytest.mark.parametrize("content", ["", "  \n", "……！？"])
    def test_what_says_nothing_is_refused(self, judge: JudgeEngine, content: str) -> None:
        verdict = judge.assess(_draft(content))

        assert not verdict.keep
        assert verdict.reason

    def test_injected_text_is_refused_without_repeating_it(self, judge: JudgeEngine) -> None:
        verdict = judge.assess(_draft(INJECTED))

        assert (verdict.keep, verdict.category) == (False, "loop")
        assert "小明" not in verdict.reason

    def test_no_talk_gives_no_drafts(self, judge: JudgeEngine) -> None:
        assert judge.extract([]) == []

    def test_every_draft_quotes_the_message_it_comes_from(self, judge: JudgeEngine) -> None:
        talk = [
            _message("你好呀！对了，我对海鲜过敏，记住哦。", 7),
            _message("My name is Alice and I live in Rome.", 8),
        ]

        drafts = judge.extract(talk)

        texts = {message.id: message.content for message in talk}
        assert all(
            draft.quote and draft.quote in texts[number]
            for draft in drafts
            for number in draft.source_message_ids
        )
        assert all(draft.source_message_ids and draft.content for draft in drafts)

    def test_every_draft_knows_when_and_where_it_was_said(self, judge: JudgeEngine) -> None:
        message = Message(
            owner=MINE, role=Role.USER, content="我对海鲜过敏", ts=NOW, id=3, speaker="lin",
            session_id="s1", source_app="cli", bot_id="b1", branch_id="x", realm=Realm.STORY,
        )  # fmt: skip

        drafts = judge.extract([message])

        assert {
            (d.occurred_at, d.speaker, d.session_id, d.source_app, d.bot_id, d.branch_id, d.realm)
            for d in drafts
        } <= {(NOW, "lin", "s1", "cli", "b1", "x", Realm.STORY)}

    def test_confidence_and_importance_are_shares(self, judge: JudgeEngine) -> None:
        drafts = judge.extract([_message("我叫小明，我喜欢猫，明天我有个面试", 1)])

        assert all(0 <= (draft.confidence or 0) <= 1 for draft in drafts)
        assert all(0 <= (draft.importance or 0) <= 1 for draft in drafts)

    def test_what_the_hub_injected_is_not_learned_again(self, judge: JudgeEngine) -> None:
        assert judge.extract([_message(INJECTED, 1)]) == []

    def test_the_same_talk_gives_the_same_drafts(self, judge: JudgeEngine) -> None:
        talk = [_message("我叫小明，住在上海", 1), _message("I love tea and cats", 2)]

        assert judge.extract(talk) == judge.extract(talk)

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    def test_no_text_breaks_it(self, judge: JudgeEngine, text: str) -> None:
        drafts = judge.extract([_message(text, 1)])

        assert all(draft.quote in text for draft in drafts)


def _draft(content: str) -> Draft:
    return Draft(type=MemoryType.NOTE, key="note", content=content)


def _message(content: str, number: int) -> Message:
    return Message(owner=MINE, role=Role.USER, content=content, ts=NOW, id=number)
