"""A thousand turns of small talk with recall on every turn: what is learned stays what was said."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.language.reading.injected_text import fingerprint, without_echoes
from plastic_memories.language.reading.persona_statements import persona_drafts
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.model.recall import Hit
from plastic_memories.rules.lifecycle.transitions import memory_from_draft
from plastic_memories.rules.prompt.blocks import stable_block, style_for, turn_block
from small_talk import MOST_JUNK, QUOTES, REMINDERS, REPLIES, TOLD, TURNS, of_our_lines, small_talk

OWNER = Owner("default", "ann", "miku")
START = datetime(2024, 5, 15, 12, tzinfo=UTC).timestamp()
STYLE = style_for("zh", UTC, [])


@dataclass
class Companion:
    """A hub in small: what is learned, what was injected lately, and where the turns stand."""

    memories: dict[str, Memory] = field(default_factory=dict)
    prints: deque[frozenset[int]] = field(default_factory=lambda: deque(maxlen=20))
    drafts: list[Draft] = field(default_factory=list)

    def recalled(self, chance: random.Random, now: float) -> str:
        rows = chance.sample([*self.memories.values()], min(5, len(self.memories)))
        block = turn_block([Hit(row, 1.0) for row in rows], [], [], STYLE, 1_000).text
        stable = stable_block([*self.memories.values()], STYLE).text
        self.prints.append(fingerprint(block) | fingerprint(stable))
        return block or stable

    def hear(self, role: Role, content: str, ts: float) -> None:
        known = frozenset[int]().union(*self.prints)
        heard = without_echoes(content, known)
        message = Message(owner=OWNER, role=role, content=heard, ts=ts)
        for draft in [*extract_drafts([message]), *persona_drafts([message])]:
            self.drafts.append(draft)
            row = memory_from_draft(OWNER, draft, ts, Status.ACTIVE)
            self.memories[draft.key] = replace(row, id=len(self.drafts))


def turns(chance: random.Random, companion: Companion) -> Iterator[tuple[Role, str]]:
    reply = REPLIES[0]
    for turn in range(TURNS):
        block = companion.recalled(chance, START + turn)
        asked = small_talk(chance)
        if turn in TOLD:
            asked = TOLD[turn]
        elif chance.random() < 0.15:
            asked = chance.choice(QUOTES).format(of_our_lines(chance, block))
        elif chance.random() < 0.15:
            asked = chance.choice(QUOTES).format(reply)
        yield Role.USER, asked
        reply = chance.choice(REPLIES)
        if chance.random() < 0.4:
            reply = chance.choice(REMINDERS).format(of_our_lines(chance, block))
        yield Role.ASSISTANT, reply


def test_small_talk_with_recall_on_every_turn_leaves_no_junk() -> None:
    chance, companion = random.Random(7), Companion()
    for number, (role, content) in enumerate(turns(chance, companion)):
        companion.hear(role, content, START + number * 30)

    told = {
        (draft.key, draft.attributes["value"])
        for text in TOLD.values()
        for draft in extract_drafts([Message(owner=OWNER, role=Role.USER, content=text, ts=START)])
    }
    learned = [(draft.key, draft.attributes["value"]) for draft in companion.drafts]
    junk = [item for item in learned if item not in told]
    again = len(learned) - len(set(learned))

    assert told <= set(learned)
    assert len(junk) < MOST_JUNK * len(learned), junk
    # What is said twice is the same row; even so hardly an echo gets that far.
    assert again < MOST_JUNK * len(learned) + 1, learned
