"""Find the sentences that tell what was forgotten, in the same or in nearly the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.sentences import sentence_spans
from plastic_memories.language.text.similarity import canonical_text
from plastic_memories.language.text.tokens import UNSPACED, content_terms, normalise_script
from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.message import Span, merge_spans
from plastic_memories.rules.lifecycle.transitions import comparable_value

_UNSPACED_CHAR = regex(f"[{UNSPACED}]")
# Of the statement's words so many are in a sentence that tells it, and of the sentence's words so
# many are in the statement: a longer sentence says something else.
_MIN_SAID = 0.75
_MIN_SHARE = 0.5
# Enough to be about it, or to be the best guess where a quote is not found.
_MIN_MENTIONED = 0.6
_MIN_GUESS = 0.3
_VALUE_KEYS = frozenset({"constraint", "preference", "personality"})
# Shorter texts are part of too many unrelated sentences.
_MIN_CANONICAL = 4
_MIN_VALUE = 2
# A longer sentence is not compared word by word beyond this.
_MAX_COMPARED = 1_000


@dataclass(frozen=True)  # without slots: cached_property needs a __dict__
class SentenceText:
    """A sentence in the forms in which it is compared."""

    text: str

    @cached_property
    def plain(self) -> str:
        return normalise_script(self.text[:_MAX_COMPARED])

    @cached_property
    def canonical(self) -> str:
        return canonical_text(self.text[:_MAX_COMPARED])

    @cached_property
    def units(self) -> frozenset[str]:
        return _word_units(self.text[:_MAX_COMPARED])


@dataclass(frozen=True, slots=True)
class ForgottenStatement:
    """A forgotten memory as it may be told again."""

    identity: tuple[MemoryType, str, str]  # type, key and value, as the rules extract them
    canonical: str  # its content, "" if that is too short to recognise
    terms: frozenset[str]  # its words, or pairs of characters
    units: frozenset[str]  # its words, or characters
    value: str  # the bare value, "" if there is none or it is too short
    quote: str

    def is_told_by(self, sentence: SentenceText, *, is_echo: bool = False) -> bool:
        """Return whether a sentence tells it; a reply to it needs only its value."""
        if self.canonical and self.canonical in sentence.canonical:
            return True
        if self.value and self.value not in sentence.plain:
            return False
        if is_echo and self.value:
            return True
        said = self.units & sentence.units
        if not self.units or len(said) < _MIN_SAID * len(self.units):
            return False
        return is_echo or len(said) >= _MIN_SHARE * len(sentence.units)

    def is_mentioned_by(self, sentence: SentenceText) -> bool:
        """Return whether a sentence may be about it."""
        if self.value and not self.value.isdigit() and self.value in sentence.plain:
            return True
        return bool(self.units) and self.share_in(sentence) >= _MIN_MENTIONED

    def share_in(self, sentence: SentenceText) -> float:
        """Return the share of its words that a sentence has."""
        return len(self.units & sentence.units) / len(self.units) if self.units else 0.0


def forgotten_statements(memories: Iterable[Memory]) -> list[ForgottenStatement]:
    """Return the statements of memories; a summary states nothing of its own."""
    return [_statement(memory) for memory in memories if memory.type is not MemoryType.SUMMARY]


def statement_identity(memory: Memory | Draft) -> tuple[MemoryType, str, str]:
    """Return what two memories that state the same have in common, in whatever language."""
    kind, *rest = memory.key.split(".")
    # Such a key names its value: constraint.allergy.seafood.
    is_named = memory.type is MemoryType.PROFILE and kind in _VALUE_KEYS and len(rest) > 1
    return memory.type, memory.key, "" if is_named else comparable_value(memory)


def told_spans(
    text: str,
    statements: Sequence[ForgottenStatement],
    drafts: Iterable[Draft] = (),
    *,
    is_source: bool = False,
    is_echo: bool = False,
) -> tuple[Span, ...]:
    """Return the sentences of a message that tell one of the statements.

    `drafts` is what the rules extract from the message. In a message from which a statement was
    learned some sentence tells it: the most likely one, or all of them, if none is recognised.
    """
    places = _quoted_places(text, statements, drafts, is_source=is_source)
    sentences = [(span, SentenceText(text[slice(*span)])) for span in sentence_spans(text)]
    told = [
        span
        for span, sentence in sentences
        if any(start < span[1] and span[0] < end for start, end in places)
        or any(one.is_told_by(sentence, is_echo=is_echo) for one in statements)
    ]
    if not told and is_source:
        told = _likely_spans(sentences, statements)
    return merge_spans(told, len(text))


def mentioning_sentences(text: str, statements: Sequence[ForgottenStatement]) -> list[str]:
    """Return the sentences of a text that may be about one of the statements."""
    found = (text[start:end].strip() for start, end in sentence_spans(text))
    return [
        sentence
        for sentence in found
        if any(one.is_mentioned_by(SentenceText(sentence)) for one in statements)
    ]


def shares_words(text: str, statements: Sequence[ForgottenStatement]) -> bool:
    """Return whether a text has a word, or two characters in a row, of one of the statements."""
    terms = set(content_terms(text))
    return any(not terms.isdisjoint(one.terms) for one in statements)


def without_told_sentences(text: str, statements: Sequence[ForgottenStatement]) -> str:
    """Return a text without the sentences that tell one of the statements."""
    kept = [
        text[slice(*span)]
        for span in sentence_spans(text)
        if not any(one.is_told_by(SentenceText(text[slice(*span)])) for one in statements)
    ]
    return text if len(kept) == len(sentence_spans(text)) else "".join(kept).strip()


def query_share(query: str, memory: Memory) -> float:
    """Return the share of a query's words that a memory has, in its content, key or value."""
    asked = _word_units(query)
    if not asked:
        return 1.0
    known = (memory.content, memory.key.replace(".", " "), str(memory.attributes.get("value", "")))
    return len(asked & _word_units("\n".join(known))) / len(asked)


def _statement(memory: Memory) -> ForgottenStatement:
    value = normalise_script(str(memory.attributes.get("value") or ""))
    canonical = canonical_text(memory.content[:_MAX_COMPARED])
    return ForgottenStatement(
        statement_identity(memory),
        canonical if len(canonical) >= _MIN_CANONICAL else "",
        frozenset(content_terms(memory.content[:_MAX_COMPARED])),
        _word_units(memory.content[:_MAX_COMPARED]),
        value if len(value) >= _MIN_VALUE else "",
        memory.quote,
    )


def _word_units(text: str) -> frozenset[str]:
    """Return the words of a text, and the characters of scripts without spaces."""
    return frozenset(
        unit
        for term in content_terms(text)
        for unit in (term if _UNSPACED_CHAR.match(term) else (term,))
    )


def _quoted_places(
    text: str,
    statements: Sequence[ForgottenStatement],
    drafts: Iterable[Draft],
    *,
    is_source: bool,
) -> list[Span]:
    identities = {one.identity for one in statements}
    quotes = {draft.quote for draft in drafts if statement_identity(draft) in identities}
    if is_source:
        quotes |= {one.quote for one in statements}
    places = ((text.find(quote), len(quote)) for quote in quotes if quote)
    return [(start, start + length) for start, length in places if start >= 0]


def _likely_spans(
    sentences: Sequence[tuple[Span, SentenceText]], statements: Sequence[ForgottenStatement]
) -> list[Span]:
    shares = [
        (max((one.share_in(sentence) for one in statements), default=0.0), span)
        for span, sentence in sentences
    ]
    best = max((share for share, _ in shares), default=0.0)
    if best < _MIN_GUESS:
        return [span for _, span in shares]
    return [span for share, span in shares if share == best]
