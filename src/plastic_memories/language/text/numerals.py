"""Parse Chinese and English numerals and approximate counts."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex

ZH_DIGITS = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_EN_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_EN_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_EN = {word: number for number, word in enumerate(_EN_SMALL.split())}
_EN |= {word: number * 10 for number, word in enumerate(_EN_TENS, start=2)}
_EN |= {"a": 1, "an": 1, "a couple of": 2, "couple": 2}
# "A few": more than one, and fewer than would be named by a larger unit.
FEW_RANGE = (2, 7)
_ZH_VAGUE = {
    "几": FEW_RANGE,
    "好几": FEW_RANGE,
    "十几": (11, 19),
    "二十几": (21, 29),
    "几十": (20, 90),
}

ZH_NUMBER = r"(?:\d{1,4}|[零〇一二两三四五六七八九十百廿]{1,5})"
EN_NUMBER = (
    r"(?:\d{1,4}|(?:"
    + "|".join(_EN_TENS)
    + r")(?:[ -](?:"
    + "|".join(_EN_SMALL.split()[1:10])
    + r"))?|"
    r"a couple of|" + "|".join(reversed(_EN_SMALL.split())) + r"|an?)"
)


def _zh_spoken_number(text: str) -> int:
    total, current = 0, 0
    for char in text.replace("廿", "二十"):
        if char == "百":
            total, current = total + (current or 1) * 100, 0
        elif char == "十":
            total, current = total + (current or 1) * 10, 0
        else:
            current = ZH_DIGITS[char]
    return total + current


def zh_number(text: str) -> int:
    """Return a number written in digits or in Chinese.

    >>> zh_number("二十五"), zh_number("12"), zh_number("两"), zh_number("二零二三")
    (25, 12, 2, 2023)
    """
    if text.isdigit():
        return int(text)
    if any(char in "十百廿" for char in text):
        return _zh_spoken_number(text)
    return int("".join(str(ZH_DIGITS[char]) for char in text))


_ZH_GUESS = regex(r"一[二两]|[二两]三|三[四五]|四五|五六|六七|七八|八九")
ZH_COUNT = rf"(?:几十|二?十几|好?几|{ZH_NUMBER})"


def zh_count(text: str) -> tuple[int, int]:
    """Return minimum and maximum of a count: two adjacent digits (`两三`) are a range.

    >>> zh_count("两三"), zh_count("十几"), zh_count("十二"), zh_count("12")
    ((2, 3), (11, 19), (12, 12), (12, 12))
    """
    if text in _ZH_VAGUE:
        return _ZH_VAGUE[text]
    if _ZH_GUESS.fullmatch(text):
        low, high = (ZH_DIGITS[char] for char in text)
        return low, high
    return zh_number(text), zh_number(text)


def en_number(text: str) -> int:
    """Return a number written in digits or in English words.

    >>> en_number("two"), en_number("twenty-five"), en_number("40")
    (2, 25, 40)
    """
    text = text.lower()
    if text.isdigit():
        return int(text)
    if text in _EN:
        return _EN[text]
    return sum(_EN[part] for part in text.replace("-", " ").split())


EN_COUNT = (
    r"(?:(?:a )?half(?: an?)?|(?:a )?few|several|(?:a )?couple(?: of)?|\d{1,3}\.5"
    rf"|{EN_NUMBER}(?: and a half)?)"
)


def en_count(text: str) -> tuple[float, float]:
    """Return minimum and maximum of a count, including halves and "a few".

    >>> en_count("half a"), en_count("two and a half"), en_count("a few"), en_count("a couple of")
    ((0.5, 0.5), (2.5, 2.5), (2, 7), (2, 2))
    """
    text = text.lower()
    if "few" in text or text == "several":
        return FEW_RANGE
    if "couple" in text:
        return 2, 2
    if text.startswith(("half", "a half")):
        return 0.5, 0.5
    if "." in text:
        return float(text), float(text)
    whole = text.removesuffix(" and a half")
    count = en_number(whole) + (0.5 if whole != text else 0)
    return count, count
