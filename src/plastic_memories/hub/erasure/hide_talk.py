"""Hide what forgotten memories told: in messages, in summaries, and in other memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.erasure.telling_messages import ToldMessage
from plastic_memories.hub.formation.learn import without_hidden_quote
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import hide_spans
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.session import Session
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import first_source_message_id
from plastic_memories.rules.lifecycle.retelling import (
    ForgottenStatement,
    shares_words,
    without_told_sentences,
)

_MAX_SEARCHED = 200


@dataclass(slots=True)
class HiddenTalk:
    """What was hidden or erased of the talk, in numbers."""

    messages: int = 0
    sentences: int = 0
    erased_messages: int = 0
    checked_messages: int = 0
    reread_jobs: list[int] = field(default_factory=list)
    rewritten_summaries: list[int] = field(default_factory=list)


def hide_messages(
    stores: Stores, told: Collection[ToldMessage], now: float, *, erase: bool
) -> HiddenTalk:
    """Hide the sentences that tell it, or erase the whole messages."""
    done = HiddenTalk(sentences=0 if erase else sum(len(one.spans) for one in told))
    by_owner: defaultdict[Owner, list[ToldMessage]] = defaultdict(list)
    for one in told:
        by_owner[one.message.owner].append(one)
    for owner, group in by_owner.items():
        if erase:
            wanted = MessageFilter(ids=[one.message.id for one in group])
            done.erased_messages += len(stores.messages.erase(owner, wanted, now))
        else:
            hidden = [hide_spans(one.message, one.spans, now) for one in group]
            done.messages += stores.messages.set_visibility(hidden)
    return done


def telling_summaries(
    stores: Stores,
    view: Viewpoint,
    statements: Sequence[ForgottenStatement],
    message_ids: Collection[int],
    now: float,
) -> list[Memory]:
    """Return the summaries that tell it.

    Of these messages, that is any with a word of it, and all that a model wrote: it may have used
    words of its own. Of other talk, only those that tell it as a message would.
    """
    if not statements:
        return []
    kind = {MemoryType.SUMMARY}
    of_talk = MemoryFilter(types=kind, source_message_ids=message_ids)
    found = stores.memories.find(view.owner, of_talk) if message_ids else []
    telling = {
        row.id: row
        for row in found
        if row.attributes.get("total_tokens") or shares_words(row.content, statements)
    }
    terms = dict.fromkeys(term for one in statements for term in query_terms(one.canonical))
    for row in stores.memory_search.search(view, list(terms), _MAX_SEARCHED, now).memories:
        is_ours = row.type is MemoryType.SUMMARY and row.owner == view.owner
        if is_ours and without_told_sentences(row.content, statements) != row.content:
            telling[row.id] = row
    return list(telling.values())


def cut_other_memories(
    stores: Stores,
    owner: Owner,
    statements: Sequence[ForgottenStatement],
    message_ids: Collection[int],
    known: Collection[int],
) -> list[Memory]:
    """Cut what tells it out of other memories of the same messages; return those that say no more.

    A note may hold a whole message, and a quote the same sentence.
    """
    if not message_ids or not statements:
        return []
    empty: list[Memory] = []
    for row in stores.memories.find(owner, MemoryFilter(source_message_ids=message_ids)):
        if row.id in known or row.type is MemoryType.SUMMARY:
            continue
        left = without_told_sentences(row.content, statements)
        if not left:
            empty.append(row)
        elif left != row.content:
            stores.memories.save(replace(row, content=left, quote="" if row.quote else row.quote))
    return empty


def drop_hidden_quotes(
    stores: Stores, owners: Iterable[Owner], message_ids: Collection[int], now: float
) -> None:
    """Drop the quotes of other memories whose sentence is hidden now."""
    for owner in owners:
        for row in stores.memories.find(owner, MemoryFilter(source_message_ids=message_ids)):
            without_hidden_quote(stores, owner, row, now)


def rewrite_summaries(
    stores: Stores,
    timeline: ConversationTimeline,
    erased: Sequence[Memory],
    done: HiddenTalk,
    now: float,
) -> None:
    """Write summaries again from what is left; a model reads the talk again in a job."""
    for old in erased:
        for session in _sessions_of(stores, old):
            written = timeline.rewrite_summaries(stores, session, [old], (), now)
            done.rewritten_summaries += [row.id for row in written]
            first = first_source_message_id(old)
            if timeline.has_model and first and first <= session.watermark:
                job = timeline.queue_rereading(stores, session, first, [old], now)
                done.reread_jobs.append(job)


def _sessions_of(stores: Stores, summary: Memory) -> list[Session]:
    return stores.sessions.find(
        summary.owner,
        session_id=summary.session_id,
        bot_id=summary.bot_id,
        source_app=summary.source_app,
        branch_id=summary.branch_id,
    )[:1]
