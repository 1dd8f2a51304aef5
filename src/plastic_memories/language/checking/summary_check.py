"""Check a proposed summary: prose in the right language, about this conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plastic_memories.language.checking.draft_building import first_text_field
from plastic_memories.language.checking.event_check import EMOTIONS
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
    return Summary(text, _topics(item), emotion if emotion in EMOTIONS else "neutral")


def _is_grounded(text: str, said: Sequence[str]) -> bool:
    """Return whether a text may be about a conversation.

    A summary may be in other words, but a number in it must have been said, and something of it
    too: a small model repeats the example of its instructions.
    """
    known = {term for line in said for term in index_terms(line)}
    numbers = {number for line in said for number in _NUMBER.findall(line)}
    is_about_it = any(term in known for term in query_terms(text))
    return is_about_it and set(_NUMBER.findall(text)) <= numbers


def _topics(item: Item) -> tuple[str, ...]:
    """Return the topics, in the model's own words."""
    given = item.get("topics")
    listed = (
        given
        if isinstance(given, list)
        else re.split(r"[,，、;；]", first_text_field(item, "topics"))
    )
    topics = (" ".join(topic.split()) for topic in listed if isinstance(topic, str))
    return tuple(dict.fromkeys(topic for topic in topics if _is_topic(topic)))[:_MAX_TOPICS]


def _is_topic(topic: str) -> bool:
    is_prose = not has_injection_marker(topic) and not _ADDRESS.search(topic)
    return 0 < len(topic) <= _MAX_TOPIC_CHARS and is_prose
