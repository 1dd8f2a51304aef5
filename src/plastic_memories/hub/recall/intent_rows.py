"""Rows that a question asks for by its kind: profile, important events, dates, history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from plastic_memories.language.questions.intent import intent_types
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.recall import Hit, IntentType, RecallQuery
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.occurrences import upcoming_events
from plastic_memories.rules.ranking.recency_ranking import recency

_MIN_IMPORTANCE = 0.5
_MAX_ROWS = 10
_UPCOMING_DAYS = 14
_HALF_LIFE_DAYS = 30.0
# Below a row that has most of the question's words, above one that shares a common word.
_BASE_SCORE = 0.3
_IMPORTANCE_SHARE = 0.2
_RECENCY_SHARE = 0.1
_HISTORY_TYPES = frozenset({MemoryType.SUMMARY, MemoryType.EVENT})


def rows_for_intent(stores: Stores, query: RecallQuery) -> list[Memory]:
    """Return the rows that the question asks for by its kind, without duplicates."""
    asked = intent_types(query.text)
    rows: list[Memory] = []
    if IntentType.PROFILE in asked:
        rows += _find(stores, query, {MemoryType.PROFILE}, limit=_MAX_ROWS)
    if IntentType.EVENT in asked:
        rows += _find(
            stores,
            query,
            {MemoryType.EVENT},
            limit=_MAX_ROWS,
            min_importance=_MIN_IMPORTANCE,
        )
        rows += _upcoming(stores, query)
    if IntentType.HISTORY in asked:
        rows += _find(stores, query, _HISTORY_TYPES, limit=_MAX_ROWS)
    ids = list(dict.fromkeys(row.id for row in rows))
    # Who may see a row is decided in one place.
    visible = {row.id: row for row in stores.memory_search.visible(query.viewpoint, ids, query.now)}
    return [visible[row_id] for row_id in ids if row_id in visible]


def with_intent_rows(hits: Sequence[Hit], rows: Sequence[Memory], now: float) -> list[Hit]:
    """Return the hits with the rows of the intent among them; a hit keeps its score."""
    found = {hit.memory.id for hit in hits}
    added = [_hit(row, now) for row in rows if row.id not in found]
    return sorted([*hits, *added], key=lambda hit: -hit.score) if added else list(hits)


def _hit(row: Memory, now: float) -> Hit:
    parts = {
        "intent": _BASE_SCORE,
        "importance": _IMPORTANCE_SHARE * row.importance,
        "recency": _RECENCY_SHARE * recency(row, now, _HALF_LIFE_DAYS),
    }
    return Hit(row, sum(parts.values()), parts, ("intent",))


def _find(
    stores: Stores, query: RecallQuery, types: Collection[MemoryType], **more: Any
) -> list[Memory]:
    view = query.viewpoint
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        types=types,
        realm=view.realm,
        bot_id=None if view.all_bots else view.bot_id,
        only_app=view.only_app or None,
        learned_in=view.session_id if view.only_session else None,
        not_expired_at=query.now,
        **more,
    )
    return stores.memories.find(view.owner, wanted)


def _upcoming(stores: Stores, query: RecallQuery) -> list[Memory]:
    zone = ZoneInfo(stores.personas.settings(query.viewpoint.owner.user).time_zone)
    today = datetime.fromtimestamp(query.now, zone).date()
    dated = _find(stores, query, {MemoryType.EVENT, MemoryType.PROFILE})
    return [event.memory for event in upcoming_events(dated, today, _UPCOMING_DAYS)][:_MAX_ROWS]
