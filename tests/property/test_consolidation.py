"""Whatever the rows are, putting them in order is careful."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.language.text.similarity import canonical_text
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.consolidation import (
    ChangeKind,
    ConsolidationChange,
    adjusted_importance,
    plan_consolidation,
)
from plastic_memories.rules.lifecycle.transitions import memory_from_draft
from plastic_memories.rules.prompt.always_told import is_constraint

OWNER = Owner("t", "u", "p")
NOW = 1_750_000_000.0
DAY = 86_400.0
drafts = st.builds(
    Draft,
    type=st.sampled_from(MemoryType),
    key=st.sampled_from(["k", "K", "a.b", "a-b", "a_b", "constraint.x"]),
    content=st.sampled_from(
        ["我喜欢喝绿茶", "我很喜欢喝绿茶！", "我喜欢喝红茶", "tea", "I like tea."]
    ),
    source_type=st.sampled_from(SourceType),
    importance=st.floats(0, 1),
    pinned=st.booleans(),
    bot_id=st.sampled_from(["", "b"]),
    tags=st.sampled_from([(), ("x",)]),
)


@st.composite
def rows(draw: st.DrawFn) -> list[Memory]:
    found: list[Memory] = []
    for number, draft in enumerate(draw(st.lists(drafts, max_size=12)), start=1):
        age, used = draw(st.integers(0, 900)), draw(st.none() | st.integers(0, 900))
        row = memory_from_draft(
            OWNER, draft, NOW - age * DAY, draw(st.sampled_from(list(Status)[:2]))
        )
        recalled = None if used is None else NOW - used * DAY
        found.append(replace(row, id=number, root_id=number, last_recalled_at=recalled))
    return found


@given(rows())
def test_no_row_is_changed_twice_or_stays_in_the_place_of_another_and_goes(
    memories: list[Memory],
) -> None:
    changes = plan_consolidation(memories, NOW)

    changed = [change.memory.id for change in changes]
    kept = {change.survivor.id for change in changes if change.survivor is not None}
    assert len(changed) == len(set(changed))
    assert kept.isdisjoint(changed)


@given(rows())
def test_what_is_pinned_or_a_constraint_is_never_ended(memories: list[Memory]) -> None:
    for change in plan_consolidation(memories, NOW):
        assert not is_constraint(change.memory)
        if change.kind is not ChangeKind.ASK:
            assert not change.memory.pinned


@given(rows())
def test_only_what_says_the_same_in_the_same_place_is_merged(memories: list[Memory]) -> None:
    for change in plan_consolidation(memories, NOW):
        if change.kind is ChangeKind.MERGE:
            assert change.survivor is not None
            one, other = change.memory, change.survivor
            assert (one.type, one.bot_id) == (other.type, other.bot_id)
            assert canonical_text(one.content) == canonical_text(other.content)


@given(rows())
def test_the_order_of_the_rows_does_not_matter(memories: list[Memory]) -> None:
    def said(found: list[ConsolidationChange]) -> set[tuple[object, ...]]:
        return {(change.kind, change.memory.id, change.importance) for change in found}

    assert said(plan_consolidation(memories, NOW)) == said(plan_consolidation(memories[::-1], NOW))


@given(rows())
def test_weight_stays_between_nothing_and_one(memories: list[Memory]) -> None:
    for memory in memories:
        assert 0 <= adjusted_importance(memory, NOW) <= 1


@given(st.text())
def test_words_are_the_same_as_themselves(text: str) -> None:
    assert canonical_text(canonical_text(text)) == canonical_text(text)
