"""Texts made to make reading slow, and how much slower reading gets when they grow."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# Runs of these, and runs of pairs, are what careless expressions stumble over.
_CHARS = "\t\n\r \"'“‘「《（(【[]<>#%&*_`~^|/\\-—=+:：,，.。!？;@$0aAé我喜😀\x1c\u3000"
_PAIRS = (
    *(" \n", "\t\n", "a ", "a,", "a.", "1-", "1 ", "1,", "1:", "我 ", "我，", "我。", "](", "[["),
    *("[a](", "![", "a\n", "- ", "> ", "# ", "<!--", "%%", "```", "((", "（（", "**", "*a", "\r\n"),
    *("a@", "a-", "a'", "“”", "“我", '"a', "「我", "https://", "{{", "\ta", "1年", "一", "and "),
)
GENERAL = (*_CHARS, *_PAIRS)

FIRST, LAST = 400, 3_200  # characters: what grows with the square shows at the last
_FLOOR_S = 0.004  # what takes less at the last takes less than half a second at the limit of a text
_ENDS_S = 1.0  # processor time after which a single reading is given up
_MOST_GROWTH = 3.0  # from n to 2n: 2 is linear, 4 is square
_EXAMPLES = 6
_MOST_CHARS = 10
_MOST_LOOPS = 100


_NUMBERS = cycle(range(0xFFF0))


class TooSlowError(Exception):
    """A reading that would not end."""


def filled(unit: str, size: int) -> str:
    """Return a text of about that size: one piece again and again, what is before `\\0` once.

    It ends in what nothing looks for, so that an expression that reads to the end fails there;
    and no two texts are the same, so that nobody remembers what came of the last one.
    """
    once, _, again = unit.rpartition("\0")
    return once + again * max(1, size // len(again)) + f"\x01{chr(0xF0000 + next(_NUMBERS))}"


def growth(work: Callable[[str], object], unit: str) -> float:
    """Return how many times longer reading twice the text takes; 0 if both are quick.

    What would not end counts as endless growth. A measurement is repeated before it is believed.
    """
    try:
        size = FIRST
        while (spent := _spent(work, filled(unit, size))) < 0.1 and size < LAST:
            size = min(size * 8, LAST) if spent < 0.002 else size * 2
        if spent < _FLOOR_S:
            return 0.0
        least = float("inf")
        for _ in range(3):
            half = min(_spent(work, filled(unit, size // 2)) for _ in range(2))
            least = min(least, _spent(work, filled(unit, size)) / max(half, 1e-6))
            if least < _MOST_GROWTH:
                return 0.0
    except TooSlowError:
        return float("inf")
    return least


def _spent(work: Callable[[str], object], text: str) -> float:
    with _ending(_ENDS_S):
        started = time.thread_time()
        work(text)
        return time.thread_time() - started


@contextmanager
def _ending(seconds: float) -> Iterator[None]:
    """Raise after so much processor time, even inside a regular expression."""

    def stop(_number: int, _frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def derived(pattern: re.Pattern[str]) -> list[str]:
    """Return pieces made of what the expression itself looks for.

    Its examples, whole and cut off after each part; what it repeats, two kinds of it in turn; and
    each of its beginnings before a run of each of its characters. An expression goes wrong where
    it almost matches, again and again.
    """
    tree = parser.parse(pattern.pattern, pattern.flags)
    units = dict.fromkeys(_beginnings(tree))
    starts = ["", *sorted((unit for unit in units if unit), key=len)[:3]]
    for char in _characters(tree)[:_MOST_CHARS]:
        units |= dict.fromkeys(f"{start}\0{char}" for start in starts)
        units |= dict.fromkeys(f"{char}{start}" for start in starts)
    units |= dict.fromkeys(islice(_loops(tree, ""), _MOST_LOOPS))
    return [unit for unit in units if not unit.endswith("\0") and unit]


def _beginnings(tree: Any) -> Iterator[str]:
    for pick in range(_EXAMPLES):
        parts = _example(tree, pick)
        yield from ("".join(parts[:end]) for end in range(1, min(len(parts), 8) + 1))
        yield from parts[:8]


def _loops(tree: Any, before: str) -> Iterator[str]:
    """Yield what may stand before a repetition, once, and then what it repeats."""
    for code, value in tree:
        children = _children(code, value)
        if code in _REPEATS and value[1] > _EXAMPLES:
            bodies = [_sample(value[2], pick) for pick in range(_width(value[2]))]
            for body, other in zip(bodies, [*bodies[1:], *bodies[:1]], strict=True):
                yield f"{before}\0{body}"
                yield f"{before}\0{body}{other}"
        for child in children:
            yield from _loops(child, before)
        before += _sample([(code, value)], 0)


def _width(tree: Any) -> int:
    """Return how many ways there are to begin."""
    for code, value in tree:
        if code is codes.BRANCH:
            return len(value[1])
        if children := _children(code, value):
            return _width(children[0])
    return 1


def _sample(tree: Any, pick: int) -> str:
    return "".join(_example(tree, pick))


def _example(tree: Any, pick: int) -> list[str]:
    parts: list[str] = []
    for code, value in tree:
        children = _children(code, value)
        if not children:
            chars = _members(code, value)
            parts += chars[pick % len(chars)] if chars else ""
        elif code not in _LOOKS:
            times = max(1, min(value[0], 3)) if code in _REPEATS else 1
            parts += _example(children[pick % len(children)], pick) * times
    return parts


_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_LOOKS = (codes.ASSERT, codes.ASSERT_NOT)
_OF_CATEGORY = {
    codes.CATEGORY_SPACE: " \n\t",
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_WORD: "a1我",
    codes.CATEGORY_NOT_SPACE: "a我",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_WORD: " -",
}


def _children(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    if code in _REPEATS:
        return [value[2]]
    return [value[1]] if code in _LOOKS else []


def _members(code: Any, value: Any) -> str:
    """Return characters that fit, some of many."""
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0]) + chr(value[1])
    if code is codes.CATEGORY:
        return _OF_CATEGORY.get(value, "")
    if code is codes.IN and value[0][0] is not codes.NEGATE:
        return "".join(_members(*item) for item in value)
    return "a我 " if code in (codes.IN, codes.ANY, codes.NOT_LITERAL) else ""


def _characters(tree: Any) -> list[str]:
    """Return what the expression repeats first, then whatever else occurs in it."""
    return list(dict.fromkeys([*_walk(tree, only_repeated=True), *_walk(tree)]))


def _walk(tree: Any, *, only_repeated: bool = False) -> Iterator[str]:
    for code, value in tree:
        if not only_repeated:
            yield from _members(code, value)
        for child in _children(code, value):
            yield from _walk(child, only_repeated=only_repeated and code not in _REPEATS)
