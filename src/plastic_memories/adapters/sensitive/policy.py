"""Built-in sensitive-data policies: refuse, mask, or pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from plastic_memories.model.formation import ScreeningResult
from plastic_memories.ports.sensitive_policy import SensitivePolicy
from plastic_memories.rules.privacy.sensitive_spans import (
    CONTACT,
    CREDENTIAL,
    GOV_ID,
    PAYMENT,
    SensitiveSpan,
    find_credentials,
    find_sensitive,
)

_ALWAYS_SENSITIVE = frozenset({CREDENTIAL, PAYMENT, GOV_ID})


class SensitiveContext(Protocol):
    """The settings that these policies read."""

    @property
    def refuse_contact(self) -> bool: ...


def strict(context: SensitiveContext) -> SensitivePolicy:
    """Refuse text that contains sensitive data."""
    return _StrictPolicy(_categories(context))


def redact(context: SensitiveContext) -> SensitivePolicy:
    """Store the text with sensitive data masked."""
    return _RedactPolicy(_categories(context))


def off(context: SensitiveContext) -> SensitivePolicy:
    """Store every text as it is."""
    return _OffPolicy()


def _categories(context: SensitiveContext) -> frozenset[str]:
    return _ALWAYS_SENSITIVE | {CONTACT} if context.refuse_contact else _ALWAYS_SENSITIVE


@dataclass(frozen=True, slots=True)
class _StrictPolicy:
    categories: frozenset[str]

    def screen(self, text: str) -> ScreeningResult:
        return _refuse_or_pass(text, _find_sensitive_spans(text, self.categories))

    def screen_id(self, text: str) -> ScreeningResult:
        return _refuse_or_pass(text, find_credentials(text))

    def mask(self, text: str) -> str:
        return _mask_spans(text, self.categories).text


@dataclass(frozen=True, slots=True)
class _RedactPolicy:
    categories: frozenset[str]

    def screen(self, text: str) -> ScreeningResult:
        return _mask_spans(text, self.categories)

    def screen_id(self, text: str) -> ScreeningResult:
        return _refuse_or_pass(text, find_credentials(text))

    def mask(self, text: str) -> str:
        return _mask_spans(text, self.categories).text


@dataclass(frozen=True, slots=True)
class _OffPolicy:
    def screen(self, text: str) -> ScreeningResult:
        return ScreeningResult(text)

    def screen_id(self, text: str) -> ScreeningResult:
        return ScreeningResult(text)

    def mask(self, text: str) -> str:
        return text


def _find_sensitive_spans(text: str, categories: frozenset[str]) -> list[SensitiveSpan]:
    return [finding for finding in find_sensitive(text) if finding.category in categories]


def _refuse_or_pass(text: str, findings: list[SensitiveSpan]) -> ScreeningResult:
    # The refused text is not returned: no caller can store or log it by mistake.
    if findings:
        return ScreeningResult("", refused_category=findings[0].category)
    return ScreeningResult(text)


def _mask_spans(text: str, categories: frozenset[str]) -> ScreeningResult:
    findings = _find_sensitive_spans(text, categories)
    for finding in reversed(findings):
        text = f"{text[: finding.start]}[{finding.category}]{text[finding.end :]}"
    return ScreeningResult(
        text, masked_categories=tuple(dict.fromkeys(f.category for f in findings))
    )
