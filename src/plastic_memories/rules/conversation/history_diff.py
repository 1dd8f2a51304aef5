"""What of a conversation that comes whole with every request is new. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.message import Message, Role

# What a model thinks aloud is not what it says; clients cut it out of what they send back.
_THOUGHT = regex(r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_TWO = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance as a client sends it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be done so that what is stored says what was said."""

    edits: Sequence[tuple[int, str]] = ()  # message id, new text
    drops: Sequence[int] = ()
    appends: Sequence[Line] = ()


@dataclass(slots=True)
class _Turn:
    """What the user said, and the replies to it."""

    said: str
    replies: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)  # of all of it, if it is stored


def spoken(text: str) -> str:
    """Return a reply without what the model only thought.

    >>> spoken("<think>she likes tea</think>茶？"), spoken("<think>she li")
    ('茶？', '')
    """
    return _THOUGHT.sub("", text)


def continued(begun: str, reply: str) -> str:
    """Return a whole reply that the client began; some servers repeat the beginning, some do not.

    >>> continued("Once", " upon a time"), continued("Once", "Once upon a time")
    ('Once upon a time', 'Once upon a time')
    """
    return reply if reply.startswith(begun) else begun + reply


def changes(stored: Sequence[Message], sent: Sequence[Line], reply: str, *, named: bool) -> Changes:
    """Compare the end of a conversation as it is stored, oldest first, with what was sent.

    `reply` answers the last line that was sent, and may be empty. Only in a session that has a
    name can it be told that a client has changed the past: without one, several may be mixed.
    """
    asked = _turns((line.role, line.text, 0) for line in sent)
    if not asked:
        return Changes()
    known = _turns((row.role, row.content, row.id) for row in stored)
    now = asked[-1]
    if _is_same_turn(known, asked):
        return _answered(known[-1], now, reply)
    if named and _is_rewritten(known, asked):
        answered = _answered(known[-1], now, reply)
        rewritten = (known[-1].ids[0], now.said)
        return replace(answered, edits=[rewritten, *answered.edits])
    corrected = _corrected(known, asked) if named else []
    return Changes(corrected, appends=[Line(Role.USER, now.said), *_lines(reply)])


def _turns(lines: Iterable[tuple[Role, str, int]]) -> list[_Turn]:
    turns: list[_Turn] = []
    for role, text, number in lines:
        if role is Role.USER:
            turns.append(_Turn(text, ids=[number]))
        elif role is Role.ASSISTANT and turns and text:
            turns[-1].replies.append(text)
            turns[-1].ids.append(number)
    return turns


def _is_same_turn(known: Sequence[_Turn], asked: Sequence[_Turn]) -> bool:
    """Say whether the last turn is stored: the reply is tried again, or goes on after a tool.

    Who says the same twice in a row says it once more than is stored.
    """
    said = asked[-1].said
    return 0 < _times(said, asked) <= _times(said, known)


def _times(said: str, turns: Sequence[_Turn]) -> int:
    return sum(1 for _ in takewhile(lambda turn: _same(turn.said, said), reversed(turns)))


def _is_rewritten(known: Sequence[_Turn], asked: Sequence[_Turn]) -> bool:
    """Say whether the user has changed the last thing they said: what led up to it is the same."""
    if len(known) < _TWO or len(asked) < _TWO or _same(asked[-2].said, known[-1].said):
        return False
    before, shown = known[-2], asked[-2]
    return _same(before.said, shown.said) and _all_same(before.replies, shown.replies)


def _corrected(known: Sequence[_Turn], asked: Sequence[_Turn]) -> list[tuple[int, str]]:
    """Return the last reply as the client shows it now, if that is another than is stored."""
    if not known or len(asked) < _TWO or not _same(known[-1].said, asked[-2].said):
        return []
    kept, shown = known[-1], asked[-2]
    if len(kept.replies) != len(shown.replies) or _all_same(kept.replies, shown.replies):
        return []
    return [
        (number, text)
        for number, old, text in zip(kept.ids[1:], kept.replies, shown.replies, strict=True)
        if not _same(old, text)
    ]


def _answered(known: _Turn, now: _Turn, reply: str) -> Changes:
    """Put a reply in its place: behind those the client has shown, instead of any later one."""
    if not reply:
        return Changes()
    place = len(now.replies)
    old = known.replies[place : place + 1]
    if not old:
        return Changes(appends=_lines(reply))
    numbers = known.ids[1 + place :]
    edits = [] if _same(old[0], reply) else [(numbers[0], reply)]
    return Changes(edits, drops=numbers[1:])


def _lines(reply: str) -> list[Line]:
    return [Line(Role.ASSISTANT, reply)] if reply else []


def _same(one: str, other: str) -> bool:
    # Clients trim and re-wrap what they show.
    return one.split() == other.split()


def _all_same(some: Sequence[str], others: Sequence[str]) -> bool:
    return len(some) == len(others) and all(map(_same, some, others))
