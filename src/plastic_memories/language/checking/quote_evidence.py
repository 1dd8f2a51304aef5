"""Locate a quote in the messages, and check that the user stated it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.language.checking.orders import gives_orders
from plastic_memories.language.reading.clauses import MessageClause, believable_clauses
from plastic_memories.language.reading.group_members import is_from_bot
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import index_terms, query_terms
from plastic_memories.model.message import Message, Role

_MIN_QUOTE_CHARS = 2
_MAX_MESSAGE_CHARS = 4_000
# The evidence of an item that no words of the user resemble.
_NO_CLAUSE = MessageClause(text="", display_text="", quote="", opens_sentence=True)


@dataclass(frozen=True, slots=True)
class QuoteEvidence:
    """The message that contains a quote, and the believable clauses that the quote covers."""

    message: Message
    place: int  # index of the message in the window
    clauses: tuple[MessageClause, ...]


def find_quote(quote: str, messages: Sequence[Message]) -> QuoteEvidence | str:
    """Return the user's latest statement with the quote, or the reason for rejecting it."""
    wanted = letters_and_digits(quote)
    if len(wanted) < _MIN_QUOTE_CHARS:
        return "no quote"
    reason = "quote not in the talk"
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        spans = _match_spans(wanted, message.content[:_MAX_MESSAGE_CHARS])
        if not spans:
            continue
        if message.role is not Role.USER or is_from_bot(message):
            reason = "not said by the user"
            continue
        if gives_orders(message.content[:_MAX_MESSAGE_CHARS]):
            reason = "gives orders"
            continue
        clauses = _covered_clauses(message.content[:_MAX_MESSAGE_CHARS], spans)
        if clauses:
            return QuoteEvidence(message, place, clauses)
        reason = "not stated as a fact"
    return reason


def item_evidence(
    item: Mapping[str, Any], value: str, messages: Sequence[Message]
) -> QuoteEvidence | str:
    """Return the evidence of an item: its quote or, if none was asked for, what comes closest.

    Older prompts ask for no quote. An empty quote, where one was asked for, proves nothing.
    """
    quote = item.get("quote")
    if isinstance(quote, str):
        return find_quote(quote, messages)
    found = find_quote(value, messages)
    return _closest_statement(value, messages) if isinstance(found, str) else found


def _closest_statement(value: str, messages: Sequence[Message]) -> QuoteEvidence | str:
    """Return the user's clause that shares most words with a value, the latest of several.

    If none shares a word, the evidence is an empty clause of the user's last message.
    """
    wanted = set(query_terms(value))
    best: tuple[int, QuoteEvidence] | None = None
    for place, message in enumerate(messages):
        if message.role is not Role.USER or is_from_bot(message):
            continue
        if gives_orders(message.content[:_MAX_MESSAGE_CHARS]):
            continue
        for clause in (_NO_CLAUSE, *believable_clauses(message.content[:_MAX_MESSAGE_CHARS])):
            shared = len(wanted & set(index_terms(clause.text)))
            if best is None or shared >= best[0]:
                best = shared, QuoteEvidence(message, place, (clause,))
    if best is None:
        return "not said by the user"
    shared, evidence = best
    return evidence if shared else replace(evidence, clauses=(_NO_CLAUSE,))


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of a text, normalised.

    >>> letters_and_digits("Ｉ'm Tom。 "), letters_and_digits("我愛 Tom！")
    ('imtom', '我爱tom')
    """
    return "".join(char for char, _ in _positioned_letters(text))


def _positioned_letters(text: str) -> Iterator[tuple[str, int]]:
    # Character by character, so that a position in the result maps to one in the text.
    for place, char in enumerate(to_simplified(text)):
        for plain in unicodedata.normalize("NFKC", char).casefold():
            if plain.isalnum():
                yield plain, place


def _match_spans(wanted: str, text: str) -> list[tuple[int, int]]:
    letters = list(_positioned_letters(text))
    line = "".join(char for char, _ in letters)
    spans: list[tuple[int, int]] = []
    start = line.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _is_on_word_boundaries(text, letters[start][1], letters[end - 1][1] + 1):
            spans.append((letters[start][1], letters[end - 1][1] + 1))
        start = line.find(wanted, start + 1)
    return spans


def _is_on_word_boundaries(text: str, start: int, end: int) -> bool:
    """Return whether a span cuts no Latin word: "tom" is not in "tomorrow"."""
    return not (
        _same_word(text[start - 1 : start], text[start])
        or _same_word(text[end - 1], text[end : end + 1])
    )


def _same_word(one: str, other: str) -> bool:
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()


def contains_value(text: str, value: str) -> bool:
    """Return whether a text contains a value literally, as whole words.

    >>> contains_value("I'm moving tomorrow", "Tom"), contains_value("我喜欢 绿茶", "喜欢绿茶")
    (False, True)
    """
    wanted = letters_and_digits(value)
    return bool(wanted) and bool(_match_spans(wanted, text))


def _covered_clauses(content: str, spans: Sequence[tuple[int, int]]) -> tuple[MessageClause, ...]:
    covered: list[MessageClause] = []
    position = 0
    for clause in believable_clauses(content):
        start = content.find(clause.quote, position)
        if start < 0:
            continue
        position = start + len(clause.quote)
        if any(left < position and start < right for left, right in spans):
            covered.append(clause)
    return tuple(covered)
