"""Split a long conversation into windows that fit a model's context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from plastic_memories.language.text.lazy_regex import at_start
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.message import Message, Role

# Overhead of each message: number, role, name and time.
_TOKENS_PER_MESSAGE = 40
# A cheap first cut, before tokens are estimated.
_CHARS_PER_TOKEN = 3
_SENTENCES = at_start(r".*[。！？!?；;…\n.]", re.DOTALL)


def split_window(window: TalkWindow, tokens: int) -> Iterator[TalkWindow]:
    """Yield windows of at most `tokens` tokens, with whole messages where they fit.

    Tool and system messages are left out: they are not conversation.
    """
    part: list[Message] = []
    spent = 0
    for message in _messages_within_budget(window, tokens):
        cost = _message_tokens(message)
        if part and spent + cost > tokens:
            yield replace(window, messages=tuple(part))
            part, spent = [], 0
        part.append(message)
        spent += cost
    if part:
        yield replace(window, messages=tuple(part))


def _message_tokens(message: Message) -> int:
    return estimate_tokens(message.content) + _TOKENS_PER_MESSAGE


def _messages_within_budget(window: TalkWindow, tokens: int) -> Iterator[Message]:
    for message in window.messages:
        if message.role in (Role.USER, Role.ASSISTANT) and message.content.strip():
            # A pasted book is not conversation: its beginning says what it is.
            yield _truncate_message(message, tokens)


def _truncate_message(message: Message, tokens: int) -> Message:
    content = message.content[: tokens * _CHARS_PER_TOKEN]
    while content and estimate_tokens(content) + _TOKENS_PER_MESSAGE > tokens:
        content = content[: len(content) * 3 // 4]
    if content == message.content:
        return message
    # Half a sentence may mean something else than the whole.
    whole = _SENTENCES.match(content)
    return replace(message, content=whole[0] if whole else content)
