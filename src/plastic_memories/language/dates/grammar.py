"""Expressions of time that stand together: a day in its year (`去年国庆`), one up to another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum, auto

from plastic_memories.language.dates import date_spans
from plastic_memories.language.dates.date_spans import DateSpan, Lean
from plastic_memories.language.text.lazy_regex import regex

Meaning = Callable[["re.Match[str]", date, Lean], DateSpan | None]

_I = re.IGNORECASE
# What may stand between a year and its part, or a week and its day.
_GAP = regex(
    r"的?(?:['’]s)?,? ?(?:(?:of|in|on|at|during|over|around|from|between|back in) )?(?:the |an? )?",
    _I,
)
_TO = regex(r" ?(?:一直)?[到至~～] ?| ?[-–—]+ ?| (?:up )?(?:to|through|until|till) (?:the )?", _I)
_AND = regex(r" and (?:the )?| ?[和与跟] ?", _I)
_WITHIN = regex(r"之间|期间")
# Named groups of the rules, and what two of a kind have in common if they stand in a list.
_KINDS = {"m": "year", "name": "year", "season": "year", "wd": "week"}
_LISTED = regex(r" ?(?:[和与跟、,，及]|and|or|或|还有) ?(?:in |on |the )?", _I)
_FROM = regex(r"(?:\b(?:from|between) (?:the )?|从|自)$", _I)
_LONGEST_FROM = len("between the ")
_DAY = timedelta(days=1)


class Role(Enum):
    """What an expression of time does beside others."""

    FIXED = auto()
    # "In March", `国庆`, "Friday": which one is decided by what stands beside it, or by the lean.
    FLOATING = auto()
    # "Last year", `两周前`: a part of it may be named beside it.
    FRAME = auto()


# A line of a grammar: pattern, meaning, role, and the hints without which it is not tried.
Grammar = Sequence[tuple[str, Meaning, Role, str]]
Needed = Callable[[str], tuple[frozenset[str], ...]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, the days it means, and what it does beside others."""

    pattern: re.Pattern[str]
    meaning: Meaning
    role: Role = Role.FIXED
    # What a text must hold for the rule to be tried: one of each of these sets of hints.
    needs: tuple[frozenset[str], ...] = ()
    # Of "two years ago", which is a day: the unit it is counted in.
    unit: Callable[[re.Match[str]], str] | None = None

    def frame(self, found: re.Match[str], span: DateSpan) -> DateSpan | None:
        """The stretch in which a part may be named beside it."""
        if self.role is not Role.FRAME:
            return None
        if self.unit and span.is_day:
            unit = self.unit(found)
            return None if unit == "day" else date_spans.whole_unit(span.start, unit)
        return None if span.is_day else span


def rules_of(grammar: Grammar, needed: Needed, flags: int = 0) -> tuple[Rule, ...]:
    """Make the rules of a grammar; `needed` reads the hints in its last column."""
    return tuple(
        Rule(regex(pattern, flags), meaning, role, needed(hints))
        for pattern, meaning, role, hints in grammar
    )


def worth_trying(rules: Iterable[Rule], hints: Set[str]) -> tuple[Rule, ...]:
    """Return the rules that may find something where these hints are."""
    return tuple(
        rule for rule in rules if not any(hints.isdisjoint(any_of) for any_of in rule.needs)
    )


@dataclass(frozen=True, slots=True)
class Phrase:
    """Days that were named from here to there in a text."""

    start: int
    end: int
    span: DateSpan
    role: Role
    rule: Rule
    found: re.Match[str]
    frame: DateSpan | None
    # Up to here the text says nothing more that is known.
    skips: int = 0

    def seen_from(self, day: date, lean: Lean) -> DateSpan | None:
        return self.rule.meaning(self.found, day, lean)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one text, seen from one day.

    `rules` hold anywhere, `following` only right behind another expression of time: there a
    bare "May" is a month.
    """

    text: str
    today: date
    lean: Lean
    rules: Sequence[Rule]
    following: Sequence[Rule]

    def first(self) -> Phrase | None:
        """Return the first expression of time, with all that belongs to it."""
        return self._read(self._leftmost(0))

    def after(self, last: Phrase) -> Phrase | None:
        """Return the next one; of `去年三月和五月` the second has the year of the first."""
        found = self._read(self._leftmost(max(last.end, last.skips)))
        if found is None or last.role is Role.FLOATING:
            return found
        is_listed = _LISTED.fullmatch(self.text, last.end, found.start)
        return _beside(found, last) if is_listed else found

    def _read(self, found: Phrase | None) -> Phrase | None:
        return self._joined(self._narrowed(found)) if found else None

    def _leftmost(self, start: int) -> Phrase | None:
        """Of two that begin together, the longer one."""
        best: Phrase | None = None
        for rule in self.rules:
            found = rule.pattern.search(self.text, start)
            if found and (best is None or _comes_before(found, best)):
                best = self._meant(rule, found) or best
        return best

    def _at(self, position: int, role: Role | None = None) -> Phrase | None:
        """Return the longest that begins right here, of one role or of any."""
        best: Phrase | None = None
        for rule in (*self.rules, *self.following):
            if role and rule.role is not role:
                continue
            found = rule.pattern.match(self.text, position)
            if found and (best is None or found.end() > best.end):
                best = self._meant(rule, found) or best
        return best

    def _meant(self, rule: Rule, found: re.Match[str]) -> Phrase | None:
        span = rule.meaning(found, self.today, self.lean)
        if span is None:
            return None
        frame = rule.frame(found, span)
        return Phrase(found.start(), found.end(), span, rule.role, rule, found, frame)

    def _narrowed(self, phrase: Phrase) -> Phrase:
        """Read on while parts follow: last year, in March, on the 5th."""
        while phrase.role is not Role.FIXED and (longer := self._with_next(phrase)):
            phrase = longer
        return phrase

    def _with_next(self, phrase: Phrase) -> Phrase | None:
        gap = _GAP.match(self.text, phrase.end)
        if gap is None or gap.end() == len(self.text):
            return None
        is_first = phrase.role is Role.FRAME
        second = self._at(gap.end(), Role.FLOATING if is_first else Role.FRAME)
        if second is None:
            return None
        frame, part = (phrase, second) if is_first else (second, phrase)
        if frame.frame is None or (not is_first and not gap[0].strip("的")):
            return None
        span, is_only = _inside(frame.frame, part)
        if span is None or not (is_only or is_first):
            return None
        if not is_only:  # "last year on a Friday": which one is not said, so it stays the year
            return replace(phrase, role=Role.FIXED, skips=second.end)
        return replace(
            part, start=phrase.start, end=second.end, span=span, role=Role.FRAME, frame=span
        )

    def _joined(self, first: Phrase) -> Phrase:
        """Read on up to the end of a stretch: from March to May."""
        link = _TO.match(self.text, first.end) or _AND.match(self.text, first.end)
        second = self._at(link.end()) if link else None
        if link is None or second is None:
            return first
        is_bare, second = second.role is Role.FLOATING, self._narrowed(second)
        if (
            _AND.fullmatch(link[0])
            and not self._is_between(first)
            and not _WITHIN.match(self.text, second.end)
        ):
            # March and April last year: both are last year's.
            return _beside(first, second) if is_bare else first
        dated, second = self._dated_together(first, second)
        span = self._stretch(dated, second)
        if span is None:
            return first
        before = _FROM.search(self.text, max(0, first.start - _LONGEST_FROM), first.start)
        start = before.start() if before else first.start
        return replace(first, start=start, end=second.end, span=span, role=Role.FIXED)

    def _dated_together(self, first: Phrase, second: Phrase) -> tuple[Phrase, Phrase]:
        """A year behind both: March 3-9, 2025."""
        if Role.FRAME in (first.role, second.role):
            return first, second
        gap = _GAP.match(self.text, second.end)
        year = self._at(gap.end(), Role.FRAME) if gap and gap[0] else None
        span = _inside(year.frame, first)[0] if year and year.frame else None
        if year is None or span is None or first.role is not Role.FLOATING:
            return first, second
        return replace(first, span=span, role=Role.FRAME), replace(second, end=year.end)

    def _is_between(self, phrase: Phrase) -> bool:
        start = max(0, phrase.start - _LONGEST_FROM)
        return "between" in self.text[start : phrase.end].lower()

    def _stretch(self, first: Phrase, second: Phrase) -> DateSpan | None:
        """From one to the other; what has no year or week of its own takes the other's."""
        floating = first.role is Role.FLOATING, second.role is Role.FLOATING
        by_end = _ordered(first.seen_from(second.span.start, Lean.PAST), second.span)
        by_start = _ordered(first.span, second.seen_from(first.span.start, Lean.FUTURE))
        if floating == (True, True):
            one, other = (by_end, by_start) if self.lean is Lean.PAST else (by_start, by_end)
            # `10月1号到7号`: the second is in the month of the first, although a 7th is nearer.
            return other if one is None or (other and _days(other) * 2 < _days(one)) else one
        if floating == (False, False):
            return _ordered(first.span, second.span)
        return by_end if floating[0] else by_start


def _comes_before(found: re.Match[str], best: Phrase) -> bool:
    return (found.start(), -found.end()) < (best.start, -best.end)


def _inside(frame: DateSpan, part: Phrase) -> tuple[DateSpan | None, bool]:
    """The first such part that begins in a frame, and whether it is the only one."""
    span = part.seen_from(frame.start, Lean.FUTURE)
    if span and span.start < frame.start:  # a winter that was on when the year began
        span = part.seen_from(span.end + _DAY, Lean.FUTURE)
    if span is None or not frame.start <= span.start <= frame.end:
        return None, False
    after = part.seen_from(span.end + _DAY, Lean.FUTURE)
    return span, after is None or not span.start < after.start <= frame.end


def _beside(phrase: Phrase, other: Phrase) -> Phrase:
    """A month, holiday or season in the year of another, or a weekday in the week of another."""
    if phrase.role is not Role.FLOATING or other.role is Role.FLOATING:
        return phrase
    one, two = phrase.found.groupdict(), other.found.groupdict()
    alike = next((kind for kind in _KINDS if one.get(kind) and two.get(kind)), None)
    frame = alike and date_spans.whole_unit(other.span.start, _KINDS[alike])
    span = _inside(frame, phrase)[0] if frame else None
    return replace(phrase, span=span, role=Role.FRAME) if span else phrase


def _ordered(one: DateSpan | None, other: DateSpan | None) -> DateSpan | None:
    if one is None or other is None or one.start > other.end:
        return None
    return DateSpan(one.start, other.end)


def _days(span: DateSpan) -> int:
    return (span.end - span.start).days
