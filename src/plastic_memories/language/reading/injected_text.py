"""Recognise text that the hub injected: by its fence, its line format, or its fingerprint.

Injected text comes back: the model repeats it, a person quotes the model. If the fence is lost, the
line format remains. If that is lost too, every few words in a row are hashed and looked up among
the fingerprints of recently injected text.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

FENCE = "<plastic_memories"
_HAN = "\u3400-\u9fff"
_LETTER = regex(r"[^\W_]")
# Every window of this weight is hashed: five Chinese characters, or ten letters. The beginning of a
# line also gives shorter windows, so that a short truncated line is recognised.
_CHINESE_WEIGHT = 2
_FULL_WINDOW = 10
_MIN_WINDOW = 6

_INJECTED_LINE = regex(r"(?:^[ \t>*•-]*|- )\[\d{4}-\d{2}-\d{2}\][^\n]*$", re.MULTILINE)
_INJECTED_LINE_PREFIX = regex(r"^[ \t>*•-]*\[\d{4}-\d{2}-\d{2}\]\s*(?:[^\s:：]{1,40}[:：]\s*)?")
_INJECTED_NOTICE = regex(
    r"^[ \t>]*(?:以下是关于用户和角色的记忆资料[^\n]*"
    r"|Remembered data about the user and the persona\b[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_PIECE = regex(r"[^。！？!?；;，,：:、\n“”「」『』\"（）()【】\[\]]+")
_FILLER_WORDS = regex(any_of("injected_text", "filler_words"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _WeightedLetter:
    text: str
    position: int
    weight: int


def has_injection_marker(text: str) -> bool:
    """Return whether a text contains the fence of an injected block.

    >>> has_injection_marker("<plastic_memories version=1>")
    True
    """
    return FENCE in text.lower()


def fingerprint(text: str) -> frozenset[int]:
    """Return the window hashes of an injected text, line by line, without dates and bullets.

    >>> fingerprint("- [2024-05-15] 我喜欢茶") == fingerprint("我喜欢茶")
    True
    """
    prints: set[int] = set()
    for line in text.splitlines():
        letters = _weighted_letters(_INJECTED_LINE_PREFIX.sub("", line))
        prints.update(
            _window_hash(letters, *window) for window in _weight_windows(letters, _FULL_WINDOW)
        )
        for size in range(_MIN_WINDOW, _FULL_WINDOW):
            prints.update(
                _window_hash(letters, *window) for window in _weight_windows(letters, size, last=1)
            )
    return frozenset(prints)


def fingerprints(texts: Iterable[str]) -> frozenset[int]:
    """Return the window hashes of several texts."""
    return frozenset().union(*map(fingerprint, texts))


def echo_spans(text: str, known: Set[int]) -> list[tuple[int, int]]:
    """Return the spans of a text that repeat injected text, in order."""
    letters = _weighted_letters(text)
    return [
        (letters[first].position, letters[last - 1].position + 1)
        for first, last in _echo_runs(letters, known)
    ]


def echo_share(text: str, known: Set[int]) -> float:
    """Return the share of a text that repeats injected text, from 0 to 1.

    >>> known = fingerprint("我对海鲜过敏，平时住在上海")
    >>> echo_share("海鲜过敏，平时住", known), echo_share("今天天气不错", known)
    (1.0, 0.0)
    """
    letters = _weighted_letters(text)
    repeated = sum(_total_weight(letters[first:last]) for first, last in _echo_runs(letters, known))
    return repeated / _total_weight(letters) if letters else 0.0


def without_echoes(text: str, known: Set[int]) -> str:
    """Blank out pieces that only repeat injected text; positions stay the same.

    A piece with anything new stays whole: 我喜欢茶和咖啡 is new if only 我喜欢茶 is known.

    >>> without_echoes("你说我喜欢茶，我也喜欢咖啡", fingerprint("我喜欢茶")).strip()
    '，我也喜欢咖啡'
    """
    if not known:
        return text
    blanked = list(text)
    for start, end in _echoed_pieces(text, known):
        blanked[start:end] = [_blank_char(char) for char in text[start:end]]
    return "".join(blanked)


def without_injected_lines(text: str) -> str:
    """Blank out lines in our line format, with or without a fence."""
    for pattern in (_INJECTED_LINE, _INJECTED_NOTICE):
        text = pattern.sub(lambda found: "\n" * len(found[0]), text)
    return text


def _blank_char(char: str) -> str:
    return char if char == "\n" else " "


def _echoed_pieces(text: str, known: Set[int]) -> Iterator[tuple[int, int]]:
    spans = echo_spans(text, known)
    for piece in _PIECE.finditer(text):
        inside = [(max(a, piece.start()), min(b, piece.end())) for a, b in spans]
        inside = [(a, b) for a, b in inside if a < b]
        if inside and _adds_nothing(text, piece.span(), inside):
            yield piece.span()


def _adds_nothing(text: str, piece: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    """Return whether a piece has only filler words besides its echoes."""
    rest, position = "", piece[0]
    for start, end in spans:
        rest += f"{text[position:start]} "
        position = end
    rest += text[position : piece[1]]
    left = re.sub(r"[\W_]+", " ", rest).split()
    return all(_FILLER_WORDS.fullmatch(word) for word in left)


def _weighted_letters(text: str) -> list[_WeightedLetter]:
    return [
        _WeightedLetter(
            unicodedata.normalize("NFKC", found[0]).casefold(),
            found.start(),
            _CHINESE_WEIGHT if "\u3400" <= found[0] <= "\u9fff" else 1,
        )
        for found in _LETTER.finditer(text)
    ]


def _total_weight(letters: list[_WeightedLetter]) -> int:
    return sum(letter.weight for letter in letters)


def _weight_windows(
    letters: list[_WeightedLetter], size: int, *, last: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the shortest window of at least this weight from every letter that starts one."""
    end, weight = 0, 0
    for first in range(len(letters) if last is None else min(last, len(letters))):
        while weight < size and end < len(letters):
            weight += letters[end].weight
            end += 1
        if weight < size:
            return
        yield first, end
        weight -= letters[first].weight


def _window_hash(letters: list[_WeightedLetter], first: int, last: int) -> int:
    return zlib.crc32("".join(letter.text for letter in letters[first:last]).encode())


def _echo_runs(letters: list[_WeightedLetter], known: Set[int]) -> list[tuple[int, int]]:
    """Return the runs of injected letters, in order and disjoint.

    A long run counts only while every window of it is known: two memories that overlap (我不喜欢狗,
    我很喜欢喝茶) do not make a third one known (我不喜欢喝茶).
    """
    if not known:
        return []
    runs: list[tuple[int, int]] = []
    previous = -2
    for first, last in _weight_windows(letters, _FULL_WINDOW):
        if _window_hash(letters, first, last) not in known:
            continue
        if first == previous + 1:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
        previous = first
    for size in range(_FULL_WINDOW - 1, _MIN_WINDOW - 1, -1):
        runs += [
            window
            for window in _weight_windows(letters, size)
            if _window_hash(letters, *window) in known and _is_disjoint(window, runs)
        ]
    return sorted(runs)


def _is_disjoint(window: tuple[int, int], runs: list[tuple[int, int]]) -> bool:
    return all(window[1] <= first or last <= window[0] for first, last in runs)
