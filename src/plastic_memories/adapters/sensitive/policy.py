"""The built-in sensitive policies: refuse, mask, or pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from plastic_memories.model.verdict import Screened
from plastic_memories.ports.sensitive_policy import SensitivePolicy
from plastic_memories.rules.privacy.sensitive_spans import (
    CONTACT,
    CREDENTIAL,
    GOV_ID,
    PAYMENT,
    Finding,
    find,
    find_credentials,
)

_ALWAYS = frozenset({CREDENTIAL, PAYMENT, GOV_ID})


class SensitiveContext(Protocol):
    """What these policies ask of an installation's settings."""

    @property
    def refuse_contact(self) -> bool: ...


def strict(context: SensitiveContext) -> SensitivePolicy:
    """Refuse text that holds something sensitive."""
    return _Strict(_categories(context))


def redact(context: SensitiveContext) -> SensitivePolicy:
    """Keep the text, without what is sensitive in it."""
    return _Redact(_categories(context))


def off(context: SensitiveContext) -> SensitivePolicy:
    """Keep every text as it is."""
    return _Off()


def _categories(context: SensitiveContext) -> frozenset[str]:
    return _ALWAYS | {CONTACT} if context.refuse_contact else _ALWAYS


@dataclass(frozen=True, slots=True)
class _Strict:
    categories: frozenset[str]

    def screen(self, text: str) -> Screened:
        return _refused_or_passed(text, _found(text, self.categories))

    def screen_id(self, text: str) -> Screened:
        return _refused_or_passed(text, find_credentials(text))

    def mask(self, text: str) -> str:
        return _masked(text, self.categories).text


@dataclass(frozen=True, slots=True)
class _Redact:
    categories: frozenset[str]

    def screen(self, text: str) -> Screened:
        return _masked(text, self.categories)

    def screen_id(self, text: str) -> Screened:
        return _refused_or_passed(text, find_credentials(text))

    def mask(self, text: str) -> str:
        return _masked(text, self.categories).text


@dataclass(frozen=True, slots=True)
class _Off:
    def screen(self, text: str) -> Screened:
        return Screened(text)

    def screen_id(self, text: str) -> Screened:
        return Screened(text)

    def mask(self, text: str) -> str:
        return text


def _found(text: str, categories: frozenset[str]) -> list[Finding]:
    return [finding for finding in find(text) if finding.category in categories]


def _refused_or_passed(text: str, findings: list[Finding]) -> Screened:
    # The refused text is not handed on: nobody downstream can store or log it by mistake.
    return Screened("", refused=findings[0].category) if findings else Screened(text)


def _masked(text: str, categories: frozenset[str]) -> Screened:
    findings = _found(text, categories)
    for finding in reversed(findings):
        text = f"{text[: finding.start]}[{finding.category}]{text[finding.end :]}"
    return Screened(text, masked=tuple(dict.fromkeys(f.category for f in findings)))
