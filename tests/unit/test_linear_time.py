"""No text makes the rules slow: every expression and every function takes time like its length."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import pytest

from hostile_texts import GENERAL, derived, growth
from rule_parts import functions, patterns

# Shares, so that several processes can do it: to find them all takes a while for each.
_SHARES = 8
_FOR_FUNCTIONS = GENERAL[::4]


@lru_cache(maxsize=1)
def _all_patterns() -> list[tuple[str, re.Pattern[str]]]:
    return list(patterns().items())


@lru_cache(maxsize=1)
def _all_functions() -> list[tuple[str, Callable[[str], object]]]:
    return list(functions().items())


def _stumbles_over(pattern: re.Pattern[str]) -> str | None:
    """Return a piece whose repetition takes more than twice as long when it is twice as long."""

    def work(text: str) -> None:
        # To find all is to search from every place; a full match may try what a search does not.
        for _ in pattern.finditer(text):
            pass
        pattern.fullmatch(text)

    units = dict.fromkeys([*GENERAL, *derived(pattern)])
    return next((unit for unit in units if growth(work, unit)), None)


@pytest.mark.parametrize("share", range(_SHARES))
def test_every_expression_takes_time_like_the_length_of_the_text(share: int) -> None:
    slow = {
        name: unit
        for name, pattern in _all_patterns()[share::_SHARES]
        if (unit := _stumbles_over(pattern)) is not None
    }

    assert not slow


@pytest.mark.parametrize("share", range(_SHARES))
def test_every_function_of_the_rules_takes_time_like_the_length_of_the_text(share: int) -> None:
    slow = {
        name: unit
        for name, work in _all_functions()[share::_SHARES]
        for unit in _FOR_FUNCTIONS
        if growth(work, unit)
    }

    assert not slow


def test_all_kinds_of_expressions_are_found() -> None:
    found = dict(_all_patterns())

    names = " ".join(found)
    assert "rules.prompt.blocks._" in names  # compiled when it is first used
    assert "adapters.recall.scoring._" in names  # compiled at once
    assert "language.reading.chinese.events._" in names  # inside of tuples
    assert "language.dates.chinese.RULES" in names  # inside of objects
    assert ".search@" in names  # written where it is used
    assert len(found) > 600


@pytest.mark.parametrize("part", ["language", "rules", "formats"])
def test_functions_of_every_part_that_reads_text_are_found(part: str) -> None:
    names = [name for name, _ in _all_functions() if name.startswith(f"{part}.")]

    assert len(names) > 20


@pytest.mark.parametrize(
    "careless",
    [
        r"\s*[\r\n]+\s*",
        r"“[^”\n]*”|「[^」\n]*」",
        r"(?:^|[。！？\n【\[])\s*(?:剧情|场景)\s*[:：】\]]",
        r"(?:^|\s+)\^pm-(\d{1,15})\s*$",
        r"!?\[([^\]]*)\]\([^)]*\)",
        r"<!--.*?-->",
        r"^ {0,3}#{1,2}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$",
        r"(?:刚刚|刚|和.{1,6}?)*(?:毕业|结婚)$",
        r"(?:都|要|都要)*用中文$",
        r"(?:啊|呀|等等)+$",
    ],
)
def test_an_expression_that_reads_again_and_again_is_found(careless: str) -> None:
    assert _stumbles_over(re.compile(careless)) is not None


def test_an_expression_that_looks_far_but_not_for_ever_is_none_of_them() -> None:
    assert _stumbles_over(re.compile(r"\(ooc[^)]{0,200}\)|a.{0,100}b")) is None
