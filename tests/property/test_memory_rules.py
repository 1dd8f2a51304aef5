"""The rules of memories, blocks, ranking and exports, on whatever Hypothesis thinks of."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.errors import Conflict, InvalidInput
from plastic_memories.formats import export_lines
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.memory import (
    LIST_SLOTS,
    SLOT_TYPES,
    Draft,
    Memory,
    MemoryType,
    Scope,
    SourceType,
    Status,
)
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.recall import Hit, TextMatches
from plastic_memories.rules.lifecycle.transitions import (
    ConfirmOptions,
    memory_from_draft,
    plan_write,
    rows_replaced_by_confirm,
)
from plastic_memories.rules.prompt.blocks import escape_line, stable_block, style_for, turn_block
from plastic_memories.rules.ranking.recency_ranking import rank_by_recency

NOW = 1_750_000_000.0
OWNER = Owner("default", "ann", "miku")
FENCE = re.compile(r"<\s*/?\s*plastic_memories", re.IGNORECASE)

hostile = st.sampled_from(
    ["</plastic_memories>", "< / PLASTIC_memories>", "\n## Rules\n", "\u2028", "<plastic_memories"]
)
texts = st.lists(
    st.one_of(st.text(min_size=1, max_size=30), hostile, st.sampled_from(["海鲜", "green tea"])),
    min_size=1,
    max_size=4,
).map(" ".join)
times = st.floats(0, 4e9)
drafts = st.builds(
    Draft,
    type=st.sampled_from(MemoryType),
    key=st.sampled_from(["a", "b", "basic_info.name", "constraint.x"]),
    content=texts,
    tags=st.lists(texts, max_size=2).map(tuple),
    scope=st.sampled_from(Scope),
    realm=st.sampled_from(Realm),
    source_type=st.sampled_from(SourceType),
    bot_id=st.sampled_from(["", "b1"]),
    session_id=st.sampled_from(["", "s1"]),
    speaker=st.sampled_from(["", "小明", "Ann"]),
    confidence=st.one_of(st.none(), st.floats(0, 1)),
    importance=st.one_of(st.none(), st.floats(0, 1)),
    occurred_at=st.one_of(st.none(), times),
    expires_at=st.one_of(st.none(), times),
    pinned=st.booleans(),
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    row = memory_from_draft(OWNER, draw(drafts), draw(times))
    number = draw(st.integers(1, 1000))
    return replace(row, id=number, root_id=number, status=draw(st.sampled_from(Status)))


def unique(rows: list[Memory]) -> list[Memory]:
    return list({row.id: row for row in rows}.values())


@given(drafts, st.lists(memories(), max_size=4))
def test_a_slot_never_becomes_active_by_writing(draft: Draft, rows: list[Memory]) -> None:
    plan = plan_write(memory_from_draft(OWNER, draft, NOW), rows)

    if draft.type in SLOT_TYPES:
        assert plan.status is Status.CANDIDATE
        assert plan.replaces == ()
    if plan.status is Status.CANDIDATE:
        assert plan.replaces == ()
    if plan.duplicate is not None:
        assert plan.duplicate.status is plan.status


@given(drafts, st.lists(memories(), max_size=4))
def test_what_was_inferred_never_replaces_what_was_said(draft: Draft, rows: list[Memory]) -> None:
    inferred = replace(draft, source_type=SourceType.MODEL_INFERRED)
    said = [replace(row, source_type=SourceType.USER_EXPLICIT) for row in rows]

    assert plan_write(memory_from_draft(OWNER, inferred, NOW), said).replaces == ()


@given(
    memories(),
    st.lists(memories(), max_size=4).map(unique),
    st.one_of(st.none(), st.integers(1, 1000)),
    st.booleans(),
)
def test_a_confirm_replaces_active_rows_of_its_slot_or_refuses(
    candidate: Memory, rows: list[Memory], named: int | None, coexist: bool
) -> None:
    waiting = replace(candidate, status=Status.CANDIDATE, expires_at=None)
    active = [
        replace(row, type=waiting.type, status=Status.ACTIVE)
        for row in rows
        if row.id != waiting.id
    ]
    try:
        replaced = rows_replaced_by_confirm(
            waiting, active, ConfirmOptions(supersedes_id=named, coexist=coexist), NOW
        )
    except (Conflict, InvalidInput):
        assert named is not None or active or coexist
        return

    assert all(row in active for row in replaced)
    left = [row for row in active if row not in replaced]
    if waiting.type in SLOT_TYPES - LIST_SLOTS and len(active) == 1:
        assert left == []
    assert not any(
        (row.key, row.scope, row.scope_ref) == (waiting.key, waiting.scope, waiting.scope_ref)
        for row in left
        if waiting.is_slot
    )


@given(st.lists(memories(), max_size=6).map(unique), st.integers(0, 400))
def test_no_block_can_be_left_and_the_turn_keeps_its_budget(
    rows: list[Memory], budget: int
) -> None:
    style = style_for("en", UTC, [])
    hits = [Hit(row, 1.0) for row in rows]
    talk = [Message(owner=OWNER, role=Role.USER, content=row.content, ts=NOW) for row in rows]

    stable = stable_block(rows, style).text
    turn = turn_block(hits, [], talk, style, budget).text

    for block in (stable, turn):
        assert len(FENCE.findall(block)) == 2 * bool(block)
    assert estimate_tokens(turn) <= budget or not turn


@given(texts)
def test_a_line_stays_a_line(text: str) -> None:
    assert len(escape_line(text).splitlines()) <= 1
    assert not FENCE.search(escape_line(text))


@given(st.lists(memories(), max_size=6).map(unique))
def test_the_stable_block_does_not_depend_on_the_order_of_finding(rows: list[Memory]) -> None:
    style = style_for("zh", UTC, [])

    first = stable_block(sorted(rows, key=lambda row: row.id), style)

    assert stable_block(sorted(rows, key=lambda row: row.id), style) == first


@given(st.lists(st.tuples(memories(), st.floats(0, 1e6)), max_size=8), times)
def test_a_ranking_loses_nothing_and_is_ordered(
    found: list[tuple[Memory, float]], now: float
) -> None:
    rows = [memory for memory, _ in found]

    hits = rank_by_recency(TextMatches(rows, [score for _, score in found]), now)

    assert sorted(hit.memory.id for hit in hits) == sorted(row.id for row in rows)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.0001 for score in scores)
    assert all(abs(sum(hit.parts.values()) - hit.score) < 1e-9 for hit in hits)


@given(memories())
def test_a_memory_comes_back_from_its_line(memory: Memory) -> None:
    kept = replace(memory, content=memory.content.replace("\x00", ""), tags=(), idempotency_key="")
    if not kept.content:
        return

    line = json.loads(json.dumps(export_lines.memory_line(kept)))
    back = export_lines.memory_from_line(line, OWNER, NOW)

    differing = [
        field.name
        for field in fields(Memory)
        if getattr(back, field.name) != getattr(kept, field.name)
    ]
    assert [name for name in differing if getattr(kept, name)] == []


@given(st.dictionaries(st.sampled_from([f.name for f in fields(Memory)]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)))  # fmt: skip
def test_whatever_a_line_holds_it_is_a_memory_or_refused(line: dict[str, object]) -> None:
    whole = {"type": "fact", "key": "k", "content": "x", **line}
    try:
        memory = export_lines.memory_from_line(whole, OWNER, NOW)
    except InvalidInput:
        return

    json.dumps(export_lines.memory_line(memory), allow_nan=False).encode()
    assert -(2**63) <= memory.recall_count < 2**63
