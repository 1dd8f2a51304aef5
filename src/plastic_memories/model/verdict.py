"""What a judge or a policy says about a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Keep it or not, and why; `reason` never repeats the text it is about."""

    keep: bool
    reason: str = ""
    category: str = ""


KEEP = Verdict(keep=True)


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """A text after the sensitive policy: passed, masked, or refused with a category."""

    text: str
    refused_category: str = ""  # the category, if the policy refuses
    masked_categories: tuple[str, ...] = ()  # the categories that were masked
