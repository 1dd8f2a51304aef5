"""Looks at every text before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.errors import Rejected
from plastic_memories.model.memory import Draft
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.sensitive_policy import SensitivePolicy


@dataclass(frozen=True, slots=True)
class Screening:
    policy: SensitivePolicy
    judge: JudgeEngine

    def text(self, text: str) -> str:
        """Return the text as it may be stored, or raise `Rejected` with its category."""
        screened = self.policy.screen(text)
        if screened.refused:
            raise _refusal(screened.refused)
        return screened.text

    def identifier(self, text: str) -> str:
        """Return a key, an id or a reference; a credential in it is refused."""
        screened = self.policy.screen_id(text)
        if screened.refused:
            raise _refusal(screened.refused)
        return screened.text

    def message(self, text: str) -> str:
        """Return a message's text, masked: a conversation is never refused."""
        return self.policy.mask(text)

    def draft(self, draft: Draft) -> Draft:
        """Return a draft as it may be stored, or raise `Rejected`."""
        verdict = self.judge.assess(draft)
        if not verdict.keep:
            raise Rejected(
                "The judge refuses to keep this.",
                {"reason": verdict.reason, "category": verdict.category},
            )
        return replace(
            draft,
            key=self.identifier(draft.key),
            source_ref=self.identifier(draft.source_ref),
            content=self.text(draft.content),
            quote=self.text(draft.quote),
            tags=tuple(self.text(tag) for tag in draft.tags),
            metadata=self.values(draft.metadata),
            attributes=self.values(draft.attributes),
        )

    def values(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Screen every text inside a JSON object."""
        return {self.identifier(name): self._value(value) for name, value in values.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self.values(value)
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        return value


def _refusal(category: str) -> Rejected:
    return Rejected(
        f"This looks like sensitive data ({category}) and is not stored.",
        {"reason": "sensitive", "category": category},
    )
