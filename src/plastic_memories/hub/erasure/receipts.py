"""What a forget has done, what it has checked, and what remains where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plastic_memories.hub.erasure.forget_targets import ForgetRequest
from plastic_memories.hub.erasure.hide_talk import HiddenTalk
from plastic_memories.hub.erasure.telling_messages import Mention
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.retelling import ForgottenStatement, mentioning_sentences

_MAX_CHECKED = 1000
_MAX_MENTIONED_MEMORIES = 20
_STAYS_READABLE = (
    "hidden sentences stay in the chat log of their owner, where nothing recalls or learns them, "
    "until the messages are deleted, purged or past retention; include_messages erases them"
)
_BACKUPS = "backup files made earlier; restoring one replays this forget"


def forget_receipt(
    stores: Stores,
    view: Viewpoint,
    gone: Sequence[Memory],
    talk: HiddenTalk,
    request: ForgetRequest,
    now: float,
) -> dict[str, Any]:
    """Check every place again, inside the same transaction, and return what remains."""
    ids = {memory.id for memory in gone}
    left = stores.memories.find(view.owner, MemoryFilter(ids=ids)) if ids else []
    terms = sorted({term for memory in gone for term in query_terms(memory.content)})
    search = stores.memory_search.search
    found = search(view, terms, _MAX_CHECKED, now).memories if terms else ()
    slots = [slot for slot in stores.slots.all(view) if ids & _memory_ids_in(slot.provenance)]
    goals = stores.goals.find(view.owner, None)
    links = [link for goal in goals for link in goal.links if link.memory_id in ids]
    return {
        "erased": {
            "rows": len(ids),
            "summaries": sum(memory.type is MemoryType.SUMMARY for memory in gone),
            "messages": talk.erased_messages,
        },
        "hidden": {"messages": talk.messages, "sentences": talk.sentences},
        "rewritten": {"summaries": len(talk.rewritten_summaries)},
        "checked": {
            "messages": talk.checked_messages,
            "memories": len(found),
            "goals": len(goals),
        },
        "never_again": request.never_again,
        "remaining": {
            "rows": len(left),
            "text_index": sum(memory.id in ids for memory in found),
            "slots": len(slots),
            "goal_links": len(links),
        },
        "elsewhere": [_STAYS_READABLE] * bool(talk.messages) + [_BACKUPS],
    }


def also_mentions(
    stores: Stores,
    view: Viewpoint,
    statements: Sequence[ForgottenStatement],
    mentions: Sequence[Mention],
    gone: Sequence[Memory],
    now: float,
) -> list[dict[str, Any]]:
    """Return what may be about it and was left alone, as far as this viewpoint may see it."""
    ids = {memory.id for memory in gone}
    terms = dict.fromkeys(term for memory in gone for term in query_terms(memory.content))
    rows = stores.memory_search.search(view, list(terms), _MAX_CHECKED, now).memories
    about = [
        Mention(sentences[0], memory=row)
        for row in rows
        if row.id not in ids and (sentences := mentioning_sentences(row.content, statements))
    ]
    shown = [one for one in mentions if _may_see(view, one)]
    return [mention_row(one) for one in [*shown, *about[:_MAX_MENTIONED_MEMORIES]]]


def mention_row(mention: Mention) -> dict[str, Any]:
    message, memory = mention.message, mention.memory
    if message is not None:
        return {
            "message_id": message.id,
            "persona_id": message.owner.persona_id,
            "session_id": message.session_id or None,
            "role": message.role.value,
            "ts": message.ts,
            "text": mention.text,
        }
    assert memory is not None, "it is of one or the other"
    return {"memory_id": memory.id, "type": memory.type.value, "text": mention.text}


def _may_see(view: Viewpoint, mention: Mention) -> bool:
    message = mention.message
    assert message is not None, "those of messages"
    is_of_app = view.only_app in ("", message.source_app)
    return is_of_app and (view.all_bots or message.bot_id == view.bot_id)


def _memory_ids_in(provenance: Mapping[str, Any]) -> set[int]:
    return set(provenance.get("active_memory_ids", ()))
