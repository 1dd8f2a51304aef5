"""The plug-in keeps the contract that Plastic Memories publishes for its port."""

from __future__ import annotations

import pytest
from plain_profile import plain

from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.testing import ProfileBuilderContract
from plastic_memories.testing.profile_builder_contract import NAMED_PERSONA, ROWS


class TestPlain(ProfileBuilderContract):
    @pytest.fixture
    def builder(self) -> ProfileBuilder:
        return plain(None)

    def test_there_are_no_headings(self, builder: ProfileBuilder) -> None:
        assert "#" not in builder.build(NAMED_PERSONA, ROWS, "en")
