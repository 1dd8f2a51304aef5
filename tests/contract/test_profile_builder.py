"""The built-in profile builder keeps the published contract."""

from __future__ import annotations

import pytest

from plastic_memories.adapters.markdown.profile import markdown_profile
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.testing import ProfileBuilderContract
from plastic_memories.testing.profile_builder_contract import NAMED_PERSONA, ROWS


class TestMarkdown(ProfileBuilderContract):
    @pytest.fixture
    def builder(self) -> ProfileBuilder:
        return markdown_profile(None)

    def test_headings_are_in_the_language_of_the_user(self, builder: ProfileBuilder) -> None:
        assert "## 禁忌与约束" in builder.build(NAMED_PERSONA, ROWS, "zh-CN")
        assert "## Constraints" in builder.build(NAMED_PERSONA, ROWS, "en")
