"""Read the sentences of a summary, and leave some of them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import normalise_script
from plastic_memories.model.formation import Summary
from plastic_memories.model.memory import Draft

_SENTENCE_END = regex(r"(?<=[。！？!?；;\n])(?![。！？!?；;\n])|(?<=\.)(?=\s)")
_OPENING = regex(r"^\s*(?:聊到：|Talked about: )")
# A summary speaks of the user; the rules read what the user says.
_IN_FIRST_PERSON = (
    (regex(r"用户(?:自己|本人)?(?:说(?:自己)?|提到(?:自己)?|表示)?[，,：:]?"), "我"),
    (regex(r"\b[Tt]he user is\b"), "I am"),
    (regex(r"\b[Tt]he user has\b"), "I have"),
    (regex(r"\b[Tt]he user\b"), "I"),
)
# A single letter occurs in most sentences.
_MIN_QUOTED_CHARS = 2


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a summary; joined again they are its text.

    >>> split_sentences("聊了天气。用户对芒果过敏；还说 v1.2 很好。")
    ['聊了天气。', '用户对芒果过敏；', '还说 v1.2 很好。']
    """
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence]


def as_user_statement(sentence: str) -> str:
    """Return a sentence of a summary as the user would say it.

    >>> as_user_statement("用户提到自己对芒果过敏"), as_user_statement("The user is a vegan.")
    ('我对芒果过敏', 'I am a vegan.')
    """
    said = _OPENING.sub("", sentence)
    for pattern, words in _IN_FIRST_PERSON:
        said = pattern.sub(words, said)
    return said


def quotes_any(text: str, drafts: Sequence[Draft]) -> bool:
    """Return whether a text has the words or the value of a draft, in either Chinese script."""
    inside = normalise_script(text)
    return any(words in inside for draft in drafts for words in _recognisable_words(draft))


def _recognisable_words(draft: Draft) -> list[str]:
    written = (draft.content, draft.quote, str(draft.attributes.get("value", "")))
    plain = (normalise_script(text).rstrip("。.!！") for text in written)
    return [text for text in plain if len(text) >= _MIN_QUOTED_CHARS]


def keep_sentences(summary: Summary, is_kept: Callable[[str], bool]) -> Summary | None:
    """Return the summary with only these sentences and topics; None if no sentence is left."""
    text = "".join(filter(is_kept, split_sentences(summary.text))).strip()
    if not text:
        return None
    return replace(summary, text=text, topics=tuple(filter(is_kept, summary.topics)))


def without_sentences(text: str, is_dropped: Callable[[str], bool]) -> str:
    """Return a summary's text without some of its sentences; empty if none is left.

    >>> without_sentences("聊到：我做后端开发；我喜欢茶", lambda one: "后端" in one)
    '聊到：我喜欢茶'
    """
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    sentences = split_sentences(text[start:])
    kept = [sentence for sentence in sentences if not is_dropped(sentence)]
    if len(kept) == len(sentences):
        return text
    left = "".join(kept).rstrip().rstrip("；;") if kept else ""
    return text[:start] + left if left else ""
