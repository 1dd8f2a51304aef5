"""Check a proposed summary: right language, grounded in the messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plastic_memories.language.checking.draft_building import first_text_field
from plastic_memories.language.checking.event_check import EMOTIONS
from plastic_memories.language.checking.quote_evidence import contains_value
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.reading.injected_text import has_injection_marker
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.language.text.tokens import index_terms, query_terms
from plastic_memories.model.formation import Summary
from plastic_memories.model.message import Message, Role

_NUMBER = regex(r"\d+")
_ADDRESS = regex(r"https?://|www\.|```|[<>{}]", re.IGNORECASE)
_MAX_SUMMARY_CHARS = 600
_MAX_TOPIC_CHARS = 30
_MAX_TOPICS = 8
# A summary adds words of its own ("the user said that"); half must be from the messages.
_MIN_GROUNDED_SHARE = 0.5


def check_summary(item: Item, messages: Sequence[Message], language: str) -> Summary | str:
    """Return a credible summary, or the reason for rejecting it."""
    text = " ".join(first_text_field(item, "text", "summary").split())
    if not 0 < len(text) <= _MAX_SUMMARY_CHARS:
        return "summary empty or too long"
    if has_injection_marker(text) or _ADDRESS.search(text):
        return "summary is not prose"
    if majority_language([text]) != language:
        return "summary in another language"
    said = [message.content for message in messages if message.role in (Role.USER, Role.ASSISTANT)]
    if not _is_grounded(text, said):
        return "summary not of this talk"
    emotion = first_text_field(item, "emotion").lower()
    return Summary(
        text, _grounded_topics(item, said), emotion if emotion in EMOTIONS else "neutral"
    )


def _is_grounded(text: str, said: Sequence[str]) -> bool:
    known = {term for line in said for term in index_terms(line)}
    terms = query_terms(text)
    share = sum(term in known for term in terms) / len(terms) if terms else 0.0
    numbers = {number for line in said for number in _NUMBER.findall(line)}
    return share >= _MIN_GROUNDED_SHARE and set(_NUMBER.findall(text)) <= numbers


def _grounded_topics(item: Item, said: Sequence[str]) -> tuple[str, ...]:
    given = item.get("topics")
    listed = (
        given
        if isinstance(given, list)
        else re.split(r"[,，、;；]", first_text_field(item, "topics"))
    )
    topics = (topic.strip() for topic in listed if isinstance(topic, str))
    kept = [
        topic
        for topic in topics
        if len(topic) <= _MAX_TOPIC_CHARS and any(contains_value(line, topic) for line in said)
    ]
    return tuple(dict.fromkeys(kept))[:_MAX_TOPICS]
