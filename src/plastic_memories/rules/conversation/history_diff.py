"""Diff a resent history against the stored messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.message import Message, Role

# Clients remove a model's thinking from the history that they send back.
_THINK_BLOCK = regex(r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_MIN_TURNS = 2


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One message as a client sends it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class HistoryDiff:
    """Edits, deletions and appends that bring the stored messages in line with the history."""

    edits: Sequence[tuple[int, str]] = ()  # (message id, new text)
    drops: Sequence[int] = ()
    appends: Sequence[HistoryLine] = ()


@dataclass(slots=True)
class _Turn:
    """A user message and the replies to it."""

    user_text: str
    replies: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)  # of the user message and its replies, if stored


def without_thoughts(text: str) -> str:
    """Return a reply without its thinking block.

    >>> without_thoughts("<think>she likes tea</think>茶？"), without_thoughts("<think>she li")
    ('茶？', '')
    """
    return _THINK_BLOCK.sub("", text)


def complete_reply(prefix: str, reply: str) -> str:
    """Return the whole reply to a prefilled beginning; some servers repeat the beginning.

    >>> complete_reply("Once", " upon a time"), complete_reply("Once", "Once upon a time")
    ('Once upon a time', 'Once upon a time')
    """
    return reply if reply.startswith(prefix) else prefix + reply


def diff_history(
    stored: Sequence[Message], sent: Sequence[HistoryLine], reply: str, *, named: bool
) -> HistoryDiff:
    """Compare the stored end of a conversation, oldest first, with the history that was sent.

    `reply` answers the last line sent, and may be empty. Edits are detected only in a named
    session: without a name, several conversations may be mixed.
    """
    sent_turns = _turns((line.role, line.text, 0) for line in sent)
    if not sent_turns:
        return HistoryDiff()
    stored_turns = _turns((row.role, row.content, row.id) for row in stored)
    last_turn = sent_turns[-1]
    if _is_same_turn(stored_turns, sent_turns):
        return _place_reply(stored_turns[-1], last_turn, reply)
    if named and _is_last_turn_edited(stored_turns, sent_turns):
        reply_diff = _place_reply(stored_turns[-1], last_turn, reply)
        edited_message = (stored_turns[-1].ids[0], last_turn.user_text)
        return replace(reply_diff, edits=[edited_message, *reply_diff.edits])
    reply_edits = _edited_replies(stored_turns, sent_turns) if named else []
    return HistoryDiff(
        reply_edits, appends=[HistoryLine(Role.USER, last_turn.user_text), *_reply_lines(reply)]
    )


def _turns(lines: Iterable[tuple[Role, str, int]]) -> list[_Turn]:
    turns: list[_Turn] = []
    for role, text, message_id in lines:
        if role is Role.USER:
            turns.append(_Turn(text, ids=[message_id]))
        elif role is Role.ASSISTANT and turns and text:
            turns[-1].replies.append(text)
            turns[-1].ids.append(message_id)
    return turns


def _is_same_turn(stored: Sequence[_Turn], sent: Sequence[_Turn]) -> bool:
    """Return whether the last turn is stored: a retried reply, or one that continues after a tool.

    A user who repeats a message sends it once more often than it is stored.
    """
    text = sent[-1].user_text
    return 0 < _trailing_repeats(text, sent) <= _trailing_repeats(text, stored)


def _trailing_repeats(text: str, turns: Sequence[_Turn]) -> int:
    return sum(1 for _ in takewhile(lambda turn: _same_text(turn.user_text, text), reversed(turns)))


def _is_last_turn_edited(stored: Sequence[_Turn], sent: Sequence[_Turn]) -> bool:
    """Return whether the user edited their last message: the turn before it is unchanged."""
    if min(len(stored), len(sent)) < _MIN_TURNS:
        return False
    if _same_text(sent[-2].user_text, stored[-1].user_text):
        return False
    old_turn, new_turn = stored[-2], sent[-2]
    is_same_question = _same_text(old_turn.user_text, new_turn.user_text)
    return is_same_question and _same_texts(old_turn.replies, new_turn.replies)


def _edited_replies(stored: Sequence[_Turn], sent: Sequence[_Turn]) -> list[tuple[int, str]]:
    """Return (id, text) of the last replies that the client has edited."""
    if not stored or len(sent) < _MIN_TURNS:
        return []
    old_turn, new_turn = stored[-1], sent[-2]
    if not _same_text(old_turn.user_text, new_turn.user_text):
        return []
    if len(old_turn.replies) != len(new_turn.replies):
        return []
    replies = zip(old_turn.ids[1:], old_turn.replies, new_turn.replies, strict=True)
    return [(reply_id, new) for reply_id, old, new in replies if not _same_text(old, new)]


def _place_reply(stored: _Turn, sent: _Turn, reply: str) -> HistoryDiff:
    """Place a reply after those the client shows, in place of any later stored reply."""
    if not reply:
        return HistoryDiff()
    place = len(sent.replies)
    replaced = stored.replies[place : place + 1]
    if not replaced:
        return HistoryDiff(appends=_reply_lines(reply))
    message_ids = stored.ids[1 + place :]
    edits = [] if _same_text(replaced[0], reply) else [(message_ids[0], reply)]
    return HistoryDiff(edits, drops=message_ids[1:])


def _reply_lines(reply: str) -> list[HistoryLine]:
    return [HistoryLine(Role.ASSISTANT, reply)] if reply else []


def _same_text(one: str, other: str) -> bool:
    # Clients trim and re-wrap text.
    return one.split() == other.split()


def _same_texts(some: Sequence[str], others: Sequence[str]) -> bool:
    return len(some) == len(others) and all(map(_same_text, some, others))
