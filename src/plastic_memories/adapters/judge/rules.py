"""The rule judge: decides from words alone, with no model."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message
from plastic_memories.model.verdict import KEEP, Verdict
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.rules.talk import extract


class RuleJudge:
    def assess(self, draft: Draft) -> Verdict:
        if "<plastic_memories" in draft.content:
            return Verdict(keep=False, reason="injected text", category="loop")
        return KEEP

    def extract(self, talk: Sequence[Message]) -> list[Draft]:
        return extract(talk)


def rule_judge(_context: object) -> JudgeEngine:
    return RuleJudge()
