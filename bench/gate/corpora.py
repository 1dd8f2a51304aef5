"""Read the corpora of talk, and the sentences that were written for this project."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Only these may be trained on; the licences are in NOTICE.
TRAINED_ON = ("dulemon", "msc_persona", "byu_chitchat", "kdconv", "hkcancor", "kvpi")
CHATTER = ("lccc_weibo", "nus_sms_zh", "nus_sms_en", "nps_chat")
_SENTENCE = re.compile(r"(?:[^。！？!?；;\n….]|\.(?!\s|$|\.))+[。！？!?；;….~～]*")
_HELD_SHARE = 5
NOTHING = "nothing"


@dataclass(frozen=True)
class Fact:
    """A line that people wrote down as true of a speaker."""

    speaker: str
    text: str
    turn: int | None
    kind: str


@dataclass(frozen=True)
class Talk:
    """One conversation: speakers with their utterances, and what is known of them."""

    corpus: str
    name: str
    turns: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]

    @property
    def is_held(self) -> bool:
        """Return whether the conversation is kept out of training, to measure on."""
        return _checksum(self.name) % _HELD_SHARE == 0


@dataclass(frozen=True)
class WrittenSentence:
    """A sentence written for this project, and the kind of what it tells; chatter is `nothing`."""

    text: str
    kind: str
    language: str

    @property
    def is_held(self) -> bool:
        """Return whether the sentence is kept out while ways to train are compared."""
        return _checksum(self.text) % _HELD_SHARE == 0


def read_talk(folder: Path, corpus: str) -> Iterator[Talk]:
    with gzip.open(folder / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Talk(
                corpus,
                row["conv_id"],
                tuple((turn["speaker"], turn["text"]) for turn in row["turns"]),
                tuple(
                    Fact(one["speaker"], one["text"], one.get("turn"), one.get("kind") or "")
                    for one in row["facts"]
                ),
            )


def read_sentences(folder: Path, half: str) -> list[WrittenSentence]:
    """Return the sentences of one half (`train` or `aside`), Chinese ones first."""
    rows = []
    for language in ("zh", "en"):
        lines = (folder / f"{half}_{language}.jsonl").read_text("utf-8").splitlines()
        rows += [json.loads(line) for line in lines if line.strip()]
    return [WrittenSentence(row["text"], row["kind"], row["lang"]) for row in rows]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Cool. I'm 46, you? 我养猫。")
    ['Cool.', "I'm 46, you?", '我养猫。']
    """
    return [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip()]


def _checksum(name: str) -> int:
    value = 0
    for char in name:
        value = (value * 31 + ord(char)) % 1_000_003
    return value
