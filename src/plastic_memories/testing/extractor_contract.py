"""Contract tests for extractors; a plug-in's test class inherits them."""

from __future__ import annotations

import pytest

from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.message import Message, Role
from plastic_memories.ports.extractor import Extractor
from plastic_memories.testing.samples import HOSTILE_TEXTS, MINE, NOW


class ExtractorContract:
    """Inherit it and provide an extractor: `class TestMine(ExtractorContract)`."""

    @pytest.fixture
    def extractor(self) -> Extractor:
        raise NotImplementedError("Override this fixture with the extractor under test.")

    async def test_no_talk_gives_nothing(self, extractor: Extractor) -> None:
        found = await extractor.propose(_window())

        assert found.drafts == ()
        assert found.summary is None

    async def test_every_draft_quotes_the_message_it_comes_from(self, extractor: Extractor) -> None:
        window = _window("我对海鲜过敏，记住哦。", "My name is Alice and I live in Rome.")

        found = await extractor.propose(window)

        said = {message.id: message.content for message in window.messages}
        for draft in found.drafts:
            assert draft.quote
            assert all(draft.quote in said[source] for source in draft.source_message_ids)
            assert draft.source_message_ids

    async def test_what_the_persona_says_is_no_fact_about_the_user(
        self, extractor: Extractor
    ) -> None:
        found = await extractor.propose(_window("我对海鲜过敏", role=Role.ASSISTANT))

        assert [draft for draft in found.drafts if draft.type == "profile"] == []

    async def test_reasons_do_not_repeat_the_text(self, extractor: Extractor) -> None:
        found = await extractor.propose(_window("我对海鲜过敏", "I live in Rome."))

        assert not any("海鲜" in reason or "Rome" in reason for reason in found.dropped)

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    async def test_no_text_makes_it_fail(self, extractor: Extractor, text: str) -> None:
        found = await extractor.propose(_window(text))

        assert all(draft.quote in text for draft in found.drafts)


def _window(*texts: str, role: Role = Role.USER) -> TalkWindow:
    messages = tuple(
        Message(owner=MINE, role=role, content=text, ts=NOW + place, id=place)
        for place, text in enumerate(texts, start=1)
    )
    return TalkWindow(owner=MINE, messages=messages)
