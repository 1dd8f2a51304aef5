"""Expressions that wait to be compiled."""

from __future__ import annotations

import re

import pytest

from plastic_memories.language.text import lazy_regex as late
from plastic_memories.language.text.lazy_regex import compile_all, regex


def test_it_finds_what_a_compiled_one_finds() -> None:
    waiting = regex(r"(?P<v>海鲜|seafood)", re.IGNORECASE)

    found = waiting.search("我对 SEAFOOD 过敏")

    assert found is not None
    assert found["v"] == "SEAFOOD"
    assert waiting.sub("x", "海鲜") == "x"
    assert waiting.pattern == r"(?P<v>海鲜|seafood)"


def test_compiling_all_leaves_none_that_waits_and_finds_a_broken_one() -> None:
    compile_all()
    broken = regex("(")

    with pytest.raises(re.error):
        compile_all()

    assert late._uncompiled == []
    del broken
