"""Contract tests for profile builders; a plug-in's test class inherits them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.persona import Persona
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.testing.samples import HOSTILE_TEXTS, MINE, memory

NAMED_PERSONA = Persona(owner=MINE, display_name="小雨", description="A companion on the desk.")
UNNAMED_PERSONA = Persona(owner=MINE)
LANGUAGES = ("", "zh", "zh-CN", "en", "en-GB", "tlh")
ROWS = tuple(
    replace(row, id=number)
    for number, row in enumerate(
        [
            memory("我叫小雨", type=MemoryType.PERSONA, key="persona"),
            memory("Never promise what you cannot keep.", type=MemoryType.RULE, key="rules"),
            memory("a developer", type=MemoryType.IDENTITY, key="id1"),
            memory("海鲜过敏", type=MemoryType.PROFILE, key="constraint.allergy.seafood"),
            memory("tcmiku", type=MemoryType.PROFILE, key="basic_info.name"),
        ],
        start=1,
    )
)


class ProfileBuilderContract:
    """Inherit it and provide a builder: `class TestMine(ProfileBuilderContract)`."""

    @pytest.fixture
    def builder(self) -> ProfileBuilder:
        raise NotImplementedError("Override this fixture with the builder under test.")

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_nothing_to_say_is_an_empty_text(self, builder: ProfileBuilder, language: str) -> None:
        assert builder.build(UNNAMED_PERSONA, [], language) == ""

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_it_says_who_the_persona_is_and_what_it_knows(
        self, builder: ProfileBuilder, language: str
    ) -> None:
        text = builder.build(NAMED_PERSONA, ROWS, language)

        for part in (
            NAMED_PERSONA.display_name,
            NAMED_PERSONA.description,
            *(row.content for row in ROWS),
        ):
            assert part in text

    def test_the_same_rows_give_the_same_text(self, builder: ProfileBuilder) -> None:
        text = builder.build(NAMED_PERSONA, ROWS, "en")

        assert builder.build(NAMED_PERSONA, list(ROWS), "en") == text
        assert builder.build(NAMED_PERSONA, ROWS[::-1], "en") == text

    def test_an_unconfirmed_row_is_marked_as_such(self, builder: ProfileBuilder) -> None:
        row = memory("no peanuts", type=MemoryType.CONSTRAINTS, key="c1")

        confirmed = builder.build(NAMED_PERSONA, [row], "en")
        waiting = builder.build(NAMED_PERSONA, [replace(row, status=Status.CANDIDATE)], "en")

        assert "no peanuts" in confirmed
        assert "no peanuts" in waiting
        assert confirmed != waiting

    @pytest.mark.parametrize("kind", MemoryType)
    def test_every_type_can_be_given(self, builder: ProfileBuilder, kind: MemoryType) -> None:
        rows: list[Memory] = [memory("one", type=kind), memory("two", type=kind)]

        assert isinstance(builder.build(UNNAMED_PERSONA, rows, "zh"), str)

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    def test_no_text_makes_it_fail(self, builder: ProfileBuilder, text: str) -> None:
        rows = [replace(row, content=text, key=text) for row in ROWS]
        persona = replace(NAMED_PERSONA, display_name=text, description=text)

        assert isinstance(builder.build(persona, rows, text), str)
