"""A readable export: what is known of a person, then day by day what was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from plastic_memories.model.memory import Memory, MemoryType, Status

# Types that describe the persona; the profile above the diary tells them.
_OF_THE_PERSONA = frozenset({MemoryType.PERSONA, MemoryType.RULE, MemoryType.GLOSSARY})
_WEEKDAYS_ZH = "一二三四五六日"


@dataclass(frozen=True, slots=True)
class _Words:
    waiting: str
    ended: str
    said_by: str
    nothing: str


_CHINESE = _Words("（待确认）", "（后来不再如此）", "（{name}说的）", "还没有记下什么。")
_ENGLISH = _Words(" (waiting for a yes)", " (no longer true)", " (said by {name})", "Nothing yet.")


def diary_lines(memories: Sequence[Memory], language: str, zone: ZoneInfo) -> Iterator[str]:
    """Yield the lines of a diary: a heading for each day, and what was told on it."""
    chinese = language.lower().startswith("zh")
    words = _CHINESE if chinese else _ENGLISH
    days: defaultdict[date, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.type not in _OF_THE_PERSONA:
            days[_day_of(memory, zone)].append(memory)
    if not days:
        yield words.nothing
    for day in sorted(days):
        yield f"## {_heading(day, chinese=chinese)}"
        yield ""
        for memory in sorted(days[day], key=lambda row: row.id):
            yield f"- {_sentence(memory, words)}"
        yield ""


def _day_of(memory: Memory, zone: ZoneInfo) -> date:
    told_at = memory.created_at if memory.occurred_at is None else memory.occurred_at
    return datetime.fromtimestamp(told_at, zone).date()


def _heading(day: date, *, chinese: bool) -> str:
    """Return a day in words.

    >>> _heading(date(2026, 11, 18), chinese=True)
    '2026年11月18日 星期三'
    >>> _heading(date(2026, 11, 18), chinese=False)
    'Wednesday, 18 November 2026'
    """
    if chinese:
        return f"{day.year}年{day.month}月{day.day}日 星期{_WEEKDAYS_ZH[day.weekday()]}"
    return f"{day:%A}, {day.day} {day:%B} {day.year}"


def _sentence(memory: Memory, words: _Words) -> str:
    text = " ".join(memory.content.split())
    if memory.speaker:
        text += words.said_by.format(name=" ".join(memory.speaker.split()))
    if memory.status is Status.CANDIDATE:
        return text + words.waiting
    return text if memory.status is Status.ACTIVE else text + words.ended
