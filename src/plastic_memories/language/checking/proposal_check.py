"""From a model's reply to a proposal: every item is checked alone, by the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from plastic_memories.language.checking.draft_building import Talk
from plastic_memories.language.checking.event_check import check_event
from plastic_memories.language.checking.profile_check import check_profile
from plastic_memories.language.checking.reply_parsing import Reply
from plastic_memories.language.checking.summary_check import check_summary, language_of
from plastic_memories.language.reading.extraction import extract
from plastic_memories.language.reading.group_members import in_the_name_of
from plastic_memories.language.reading.memory_keys import opposite
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Role
from plastic_memories.model.talk import Proposal, Summary, TalkWindow


def language_of_window(window: TalkWindow) -> str:
    """Return the language a window is to be summed up in."""
    return window.language or language_of([message.content for message in window.messages])


def check(reply: Reply, window: TalkWindow) -> Proposal:
    """Keep of a reply what the window proves."""
    talk = _talk(window)
    outcomes = [check_profile(item, talk) for item in reply.profile]
    outcomes += [check_event(item, talk) for item in reply.events]
    drafts = [_spoken(each, window) for each in outcomes if isinstance(each, Draft)]
    dropped = [*reply.dropped, *(each for each in outcomes if isinstance(each, str))]
    summary: Summary | str | None = None
    if reply.summary is not None:
        summary = check_summary(reply.summary, window.messages, language_of_window(window))
    if isinstance(summary, str):
        dropped.append(summary)
        summary = None
    return Proposal(
        drafts=_latest(drafts),
        summary=summary,
        dropped=tuple(dropped),
    )


def merged(proposals: Sequence[Proposal]) -> Proposal:
    """Join the proposals of the parts of one window, in their order."""
    summaries = [each.summary for each in proposals if each.summary]
    return Proposal(
        drafts=_latest([draft for each in proposals for draft in each.drafts]),
        summary=_joined(summaries) if summaries else None,
        dropped=tuple(reason for each in proposals for reason in each.dropped),
        tokens_in=sum(each.tokens_in for each in proposals),
        tokens_out=sum(each.tokens_out for each in proposals),
    )


def _joined(summaries: Sequence[Summary]) -> Summary:
    topics = dict.fromkeys(topic for each in summaries for topic in each.topics)
    return Summary("\n".join(each.text for each in summaries), tuple(topics), summaries[-1].emotion)


def _talk(window: TalkWindow) -> Talk:
    by_rules = [
        # Read as the user's own; whose they are is decided once, for both.
        extract([replace(message, speaker="")], window.time_zone)
        if message.role is Role.USER
        else []
        for message in window.messages
    ]
    return Talk(window.messages, by_rules, _zone(window.time_zone))


def _spoken(draft: Draft, window: TalkWindow) -> Draft:
    (source,) = draft.source_message_ids or (0,)
    message = next(
        each for each in window.messages if (each.id, each.ts) == (source, draft.occurred_at)
    )
    return in_the_name_of(message, draft)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _latest(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Order drafts as they were said; of two with one key the later holds, as with the rules."""
    kept: dict[tuple[MemoryType, str], Draft] = {}
    for draft in sorted(drafts, key=lambda each: (each.occurred_at or 0, each.source_message_ids)):
        kept.pop((draft.type, draft.key), None)
        kept.pop((draft.type, opposite(draft.key) or draft.key), None)
        kept[draft.type, draft.key] = draft
    return tuple(kept.values())
