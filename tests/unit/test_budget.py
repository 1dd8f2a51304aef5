"""How much text fits a token budget."""

from __future__ import annotations

import pytest

from plastic_memories.language.text.token_count import estimate_tokens


# The ranges span what the vocabularies of cl100k, o200k and Qwen spend on such text.
@pytest.mark.parametrize(
    ("text", "fewest", "most"),
    [
        ("", 0, 0),
        (" ", 1, 1),
        ("a", 1, 2),
        ("hello world", 2, 3),
        ("The quick brown fox jumps over the lazy dog.", 9, 13),
        ("internationalization", 3, 6),
        ("我对海鲜过敏", 4, 8),
        ("今天天气很好，我们一起去公园散步吧。", 11, 22),
        ("привет, как дела?", 5, 10),
        ("2024-05-01 12:30", 8, 15),
        ("😀", 1, 3),
        ("\n\n", 1, 2),
    ],
)
def test_the_estimate_is_near_what_models_count(text: str, fewest: int, most: int) -> None:
    assert fewest <= estimate_tokens(text) <= most


def test_longer_text_never_counts_less() -> None:
    text = "我喜欢 jasmine tea, 每天3杯 ☕️ привет_мир\n"

    counts = [estimate_tokens(text[:end]) for end in range(len(text) + 1)]

    assert counts == sorted(counts)
