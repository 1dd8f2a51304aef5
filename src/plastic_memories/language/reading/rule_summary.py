"""Summarise a conversation by rules, from its extracted drafts."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.model.formation import Summary, TalkWindow
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.session import Session

_MAX_POINTS = 8
_MAX_CHARS = 400
_NEUTRAL = "neutral"
_OPENING = {"zh": "聊到：", "en": "Talked about: "}
_SEPARATOR = {"zh": "；", "en": "; "}


def summarise_drafts(drafts: Sequence[Draft], language: str) -> Summary | None:
    """Return a summary of the most important drafts; None if there are none."""
    points: list[str] = []
    for draft in sorted(drafts, key=lambda one: -(one.importance or 0))[:_MAX_POINTS]:
        text = draft.content.strip()
        if text not in points and sum(map(len, points)) + len(text) <= _MAX_CHARS:
            points.append(text)
    if not points:
        return None
    opening = _OPENING.get(language, _OPENING["en"])
    text = opening + _SEPARATOR.get(language, _SEPARATOR["en"]).join(points)
    return Summary(text, _topics(drafts), _emotion(drafts))


def summary_draft(session: Session, window: TalkWindow, summary: Summary, tokens: int) -> Draft:
    """Return the draft that stores the summary of a window."""
    first, last = window.messages[0], window.messages[-1]
    place = session.place
    return Draft(
        type=MemoryType.SUMMARY,
        key=f"session.{place.session_id or 'talk'}.{first.id}",
        content=summary.text,
        realm=first.realm,
        source_type=SourceType.MODEL_INFERRED,
        source_app=place.source_app,
        bot_id=place.bot_id,
        session_id=place.session_id,
        branch_id=place.branch_id,
        source_message_ids=tuple(message.id for message in window.messages),
        occurred_at=last.ts,
        attributes={
            "topics": list(summary.topics),
            "emotion": summary.emotion,
            "start_time": first.ts,
            "end_time": last.ts,
            "message_count": len(window.messages),
            "total_tokens": tokens,
        },
    )


def _topics(drafts: Sequence[Draft]) -> tuple[str, ...]:
    kinds = (draft.key.split(".")[0] for draft in drafts)
    return tuple(dict.fromkeys(kinds))


def _emotion(drafts: Sequence[Draft]) -> str:
    felt = (str(draft.attributes.get("emotion", _NEUTRAL)) for draft in drafts)
    return next((emotion for emotion in felt if emotion != _NEUTRAL), _NEUTRAL)
