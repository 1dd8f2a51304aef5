"""Rule-based judge: deterministic, without a model or network."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from plastic_memories.language.reading.injected_text import has_injection_marker
from plastic_memories.model.formation import KEEP, Verdict
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message
from plastic_memories.ports.judge import JudgeEngine

# Punctuation, separators, control and format characters; an emoji does carry meaning.
_NON_TEXT_CATEGORIES = frozenset(
    {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs"}
)


class RuleJudge:
    def assess(self, draft: Draft) -> Verdict:
        if all(unicodedata.category(char) in _NON_TEXT_CATEGORIES for char in draft.content):
            return Verdict(keep=False, reason="nothing is said", category="empty")
        if has_injection_marker(draft.content):
            return Verdict(keep=False, reason="injected text", category="loop")
        return KEEP

    def extract(self, talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
        # Imported lazily: compiling its grammar takes a third of a second, and a hub should
        # answer sooner than that after its start.
        from plastic_memories.language.reading.extraction import extract_drafts  # noqa: PLC0415
        from plastic_memories.language.reading.persona_statements import persona_drafts  # noqa: PLC0415

        return [*extract_drafts(talk, time_zone), *persona_drafts(talk, time_zone)]


def rule_judge(_context: object) -> JudgeEngine:
    """Return the judge; it needs nothing from the hub."""
    return RuleJudge()
