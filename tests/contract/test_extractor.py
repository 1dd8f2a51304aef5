"""The extractor of the language model keeps the promises of its port, whatever the model says."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fake_model import fake_model
from harness import environment
from plastic_memories import wiring
from plastic_memories.ports.extractor import Extractor
from plastic_memories.settings import load_settings
from plastic_memories.testing import ExtractorContract
from talks import fact, reply, talk

# It finds the same in every conversation, whether it was said there or not.
ANSWER = reply(
    fact("我对海鲜过敏", "constraint.allergy", "海鲜"),
    fact("My name is Alice", "basic_info.name", "Alice"),
    fact("I live in Rome", "basic_info.place", "Rome"),
    summary={"text": "The user lives in Rome.", "topics": ["Rome"], "emotion": "neutral"},
)


class TestLlmExtractor(ExtractorContract):
    @pytest.fixture
    async def extractor(self, tmp_path: Path) -> AsyncGenerator[Extractor]:  # type: ignore[override]
        with fake_model() as model:
            model.says(ANSWER)
            chosen = {"judge": "llm", "llm_base_url": model.url, "llm_model": "small"}
            async with wiring.open_hub(load_settings(environment(tmp_path, **chosen))) as hub:
                assert hub.extractor is not None
                yield hub.extractor

    async def test_it_finds_what_was_said(self, extractor: Extractor) -> None:
        found = await extractor.propose(talk("我对海鲜过敏"))

        assert [draft.key for draft in found.drafts] == ["constraint.allergy.seafood"]
