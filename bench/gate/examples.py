"""Make labelled sentences from the corpora: lasting, not lasting, or unknown."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench.gate.corpora import NOTHING, Talk, WrittenSentence, read_talk, sentences
from bench.gate.vectors import VectorCache
from bench.gate.weak_labels import is_passing, kind_of_fact

T = TypeVar("T")
# Cosines between a fact and a sentence: the sentence tells it, or has nothing to do with it.
_TELLS = 0.5
_UNRELATED = 0.3
_MIN_CHARS = 2
_MAX_CHARS = 200
_CHATTER_LIMIT = 5_000
_TALK_LIMIT = 400
_WRITTEN_WEIGHT = 10.0


@dataclass(frozen=True)
class Example:
    """A text with its label: 1 lasting, 0 not; None is unknown, for the model to judge first."""

    text: str
    lasting: int | None
    kind: str = ""
    weight: float = 1.0
    corpus: str = ""
    is_held: bool = False


def corpus_examples(folder: Path, vectors: VectorCache) -> list[Example]:
    """Return the examples of every corpus that may be trained on, in a fixed order."""
    found: list[Example] = []
    for corpus in ("dulemon", "msc_persona"):
        talks = _some(list(read_talk(folder, corpus)), _TALK_LIMIT)
        vectors.embed(_texts_to_compare(talks))
        for talk in talks:
            found += _fact_examples(talk, vectors)
    found += _place_and_sign_examples(folder)
    for corpus, label, weight in (
        ("kdconv", 0, 0.5),
        ("byu_chitchat", None, 0.5),
        ("hkcancor", None, 0.5),
    ):
        found += _chatter_examples(folder, corpus, label, weight)
    return [one for one in found if _MIN_CHARS <= len(one.text) <= _MAX_CHARS]


def written_examples(
    written: Iterable[WrittenSentence], *, hold_some: bool = False
) -> list[Example]:
    """Return the sentences that were written here; one of them weighs as much as several found.

    `hold_some` keeps a fifth of them out of the training, to compare ways to train.
    """
    return [
        Example(
            one.text,
            int(one.kind != NOTHING),
            "" if one.kind == NOTHING else one.kind,
            _WRITTEN_WEIGHT,
            f"written_{one.language}",
            hold_some and one.is_held,
        )
        for one in written
    ]


def _some(rows: list[T], limit: int) -> list[T]:
    """Return at most `limit` rows, always the same."""
    return random.Random(7).sample(rows, min(limit, len(rows)))


def _texts_to_compare(talks: Iterable[Talk]) -> Iterator[str]:
    for talk in talks:
        for _, text in talk.turns:
            yield from sentences(text)
        for fact in talk.facts:
            yield from sentences(fact.text)


def _fact_examples(talk: Talk, vectors: VectorCache) -> Iterator[Example]:
    """Yield the sentences of a conversation with labelled facts, the facts, and whole turns."""
    is_complete = talk.corpus == "msc_persona"
    for number, (speaker, text) in enumerate(talk.turns):
        told = [fact for fact in talk.facts if fact.turn == number]
        untied = [one for one in talk.facts if one.turn is None and one.speaker == speaker]
        lines = [line for fact in told for line in sentences(fact.text)]
        loose = [line for fact in untied for line in sentences(fact.text)]
        pieces = sentences(text)
        labelled = _label_sentences(pieces, lines, loose, vectors, is_complete=is_complete)
        kinds = []
        for piece, label, kind in labelled:
            kinds += [kind] if label else []
            yield Example(piece, label, kind, 1.0, talk.corpus, talk.is_held)
        if len(pieces) > 1 and (kinds or is_complete):
            whole = 1 if kinds else None if lines else 0
            yield Example(text, whole, kinds[0] if kinds else "", 0.5, talk.corpus, talk.is_held)
    for fact in talk.facts:
        for line in sentences(fact.text):
            if not is_passing(line):
                kind = kind_of_fact(line).value
                yield Example(line, 1, kind, 0.5, talk.corpus, talk.is_held)


def _label_sentences(
    pieces: list[str],
    lines: list[str],
    loose: list[str],
    vectors: VectorCache,
    *,
    is_complete: bool,
) -> Iterator[tuple[str, int | None, str]]:
    """Yield each sentence with its label and kind.

    `lines` are told by this turn, so the nearest sentence tells each; `loose` by some turn.
    """
    if not pieces:
        return
    lasting = [line for line in lines if not is_passing(line)]
    own = vectors.rows(pieces)
    by_line = own @ vectors.rows([*lasting, *loose]).T if lasting or loose else None
    nearest = {int(np.argmax(by_line[:, k])): k for k in range(len(lasting))} if lasting else {}
    for index, piece in enumerate(pieces):
        similar = by_line[index] if by_line is not None else np.zeros(1)
        best = nearest.get(index, int(np.argmax(similar)))
        asks = piece.rstrip().endswith(("?", "？"))
        if not asks and (
            (index in nearest and similar[best] > _UNRELATED) or similar[best] > _TELLS + 0.1
        ):
            yield piece, 1, kind_of_fact([*lasting, *loose][best]).value
        elif (is_complete and (not lines or (similar.max() < _UNRELATED))) or (asks and not lines):
            yield piece, 0, ""
        else:
            yield piece, None, ""


def _place_and_sign_examples(folder: Path) -> Iterator[Example]:
    """Yield replies of Weibo: most that state a place or a star sign do so in passing."""
    for talk in read_talk(folder, "kvpi"):
        text = talk.turns[0][1]
        if not talk.facts:
            label: int | None = 0 if "我是" not in text and "我在" not in text else None
            yield Example(text, label, "", 0.7, "kvpi", talk.is_held)
        elif any(mark in text for mark in ("我是", "我在", "我家", "我也是")):
            kind = "home" if talk.facts[0].text.startswith("地点") else "other"
            yield Example(text, 1, kind, 0.5, "kvpi", talk.is_held)


def _chatter_examples(
    folder: Path, corpus: str, label: int | None, weight: float
) -> Iterator[Example]:
    texts = [
        (piece, talk.is_held)
        for talk in read_talk(folder, corpus)
        for _, text in talk.turns
        for piece in sentences(text)
    ]
    for text, is_held in _some(texts, _CHATTER_LIMIT):
        yield Example(text, label, "", weight, corpus, is_held)
