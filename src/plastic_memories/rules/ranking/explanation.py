"""Explain for each memory why it is in a recall result, or why not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.model.recall import Hit, NearMiss, Utterance

_BELOW_LIMIT_REASON = "below the limit: the last places are for constraints and identity"


@dataclass(frozen=True, slots=True)
class PromptContents:
    """The memories shown in the prompt, and why others are not."""

    shown: Collection[int]
    repeats: Mapping[int, int]  # memory id → memory with the same statement
    on_pages: Collection[int]

    def omission_reason(self, memory_id: int) -> str | None:
        """Return why a memory is not in the prompt; None if it is."""
        if memory_id in self.shown:
            return None
        if memory_id in self.on_pages:
            return "not in the prompt: a page says the same"
        twin = self.repeats.get(memory_id)
        if twin in self.shown:
            return f"not in the prompt: says the same as memory {twin}"
        return "not in the prompt: the token budget is spent"


def explain_results(
    hits: Sequence[Hit],
    without_place: Sequence[Hit],
    near_misses: Sequence[NearMiss],
    prompted: PromptContents,
) -> list[Mapping[str, Any]]:
    """Return explanations of the hits, then of the hits beyond the limit and the near misses."""
    return [
        *(_explain_item(hit, prompted.omission_reason(hit.memory.id)) for hit in hits),
        *(_explain_item(hit, _BELOW_LIMIT_REASON) for hit in without_place),
        *(_explain_item(miss, _near_miss_reason(miss)) for miss in near_misses),
    ]


def explain_utterances(
    found: Sequence[Utterance], quoted: Sequence[Utterance], shown: Collection[int]
) -> list[Mapping[str, Any]]:
    """Return explanations of the messages that the search found."""
    chosen = {one.message.id for one in quoted}
    return [
        {
            "memory_id": None,
            "message_id": one.message.id,
            **_score_fields(one, _quote_reason(one, chosen, shown)),
        }
        for one in found
    ]


def _quote_reason(one: Utterance, chosen: Collection[int], shown: Collection[int]) -> str | None:
    if one.message.id in shown:
        return None
    if one.message.id in chosen:
        return "not in the prompt: the token budget is spent"
    return "not quoted: beyond the limit, shown already, or told by a memory"


def _explain_item(of: Hit | NearMiss, left_out: str | None) -> dict[str, Any]:
    return {"memory_id": of.memory.id, **_score_fields(of, left_out)}


def _score_fields(of: Hit | NearMiss | Utterance, left_out: str | None) -> dict[str, Any]:
    return {
        "score": round(of.score, 6),
        "parts": {name: round(value, 6) for name, value in of.parts.items()},
        "found_by": list(of.found_by),
        "left_out": left_out,
    }


def _near_miss_reason(miss: NearMiss) -> str:
    return miss.reason if miss.repeats is None else f"{miss.reason} as memory {miss.repeats}"
