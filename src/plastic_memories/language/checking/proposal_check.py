"""Turn a model's reply into a proposal, checking every item separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plastic_memories.language.checking.draft_building import CheckedWindow
from plastic_memories.language.checking.event_check import check_event
from plastic_memories.language.checking.profile_check import check_profile
from plastic_memories.language.checking.reply_parsing import ParsedReply
from plastic_memories.language.checking.summary_check import check_summary
from plastic_memories.language.dates.time_zones import zone_or_utc
from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.language.reading.group_members import attribute_to_speaker
from plastic_memories.language.reading.memory_keys import opposite_key
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.formation import Proposal, Summary, TalkWindow
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Role


def window_language(window: TalkWindow) -> str:
    """Return the language a window is to be summed up in."""
    return window.language or majority_language(message.content for message in window.messages)


def check_reply(reply: ParsedReply, window: TalkWindow) -> Proposal:
    """Return the parts of a reply that the window proves."""
    talk = _checked_window(window)
    outcomes = [check_profile(item, talk) for item in reply.profile]
    outcomes += [check_event(item, talk) for item in reply.events]
    drafts = [_with_speaker(each, window) for each in outcomes if isinstance(each, Draft)]
    dropped = [*reply.dropped, *(each for each in outcomes if isinstance(each, str))]
    summary: Summary | str | None = None
    if reply.summary is not None:
        summary = check_summary(reply.summary, window.messages, window_language(window))
    if isinstance(summary, str):
        dropped.append(summary)
        summary = None
    return Proposal(
        drafts=_latest_by_key(drafts),
        summary=summary,
        dropped=tuple(dropped),
    )


def merge_proposals(proposals: Sequence[Proposal]) -> Proposal:
    """Merge the proposals of the parts of one window, in order."""
    summaries = [each.summary for each in proposals if each.summary]
    return Proposal(
        drafts=_latest_by_key([draft for each in proposals for draft in each.drafts]),
        summary=_join_summaries(summaries) if summaries else None,
        dropped=tuple(reason for each in proposals for reason in each.dropped),
        tokens_in=sum(each.tokens_in for each in proposals),
        tokens_out=sum(each.tokens_out for each in proposals),
    )


def _join_summaries(summaries: Sequence[Summary]) -> Summary:
    topics = dict.fromkeys(topic for each in summaries for topic in each.topics)
    return Summary("\n".join(each.text for each in summaries), tuple(topics), summaries[-1].emotion)


def _checked_window(window: TalkWindow) -> CheckedWindow:
    by_rules = [
        # Read as the user's own message; the speaker is assigned once, for both.
        extract_drafts([replace(message, speaker="")], window.time_zone)
        if message.role is Role.USER
        else []
        for message in window.messages
    ]
    return CheckedWindow(window.messages, by_rules, zone_or_utc(window.time_zone))


def _with_speaker(draft: Draft, window: TalkWindow) -> Draft:
    (source,) = draft.source_message_ids or (0,)
    message = next(
        each for each in window.messages if (each.id, each.ts) == (source, draft.occurred_at)
    )
    return attribute_to_speaker(message, draft)


def _latest_by_key(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Return drafts in message order; of two with one key the later wins, as in the rules."""
    kept: dict[tuple[MemoryType, str], Draft] = {}
    for draft in sorted(drafts, key=lambda each: (each.occurred_at or 0, each.source_message_ids)):
        kept.pop((draft.type, draft.key), None)
        kept.pop((draft.type, opposite_key(draft.key) or draft.key), None)
        kept[draft.type, draft.key] = draft
    return tuple(kept.values())
