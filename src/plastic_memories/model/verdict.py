"""Results of judging or screening a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to keep a text, and why; `reason` never repeats the text."""

    keep: bool
    reason: str = ""
    category: str = ""


KEEP = Verdict(keep=True)


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """A text after the sensitivity policy: passed, masked, or refused with a category."""

    text: str
    refused_category: str = ""  # empty unless the policy refuses
    masked_categories: tuple[str, ...] = ()
