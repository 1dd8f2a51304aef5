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
class Screened:
    """A text after the sensitive policy: passed, masked, or refused with a category."""

    text: str
    refused: str = ""  # the category, if the policy refuses
    masked: tuple[str, ...] = ()  # the categories that were masked
