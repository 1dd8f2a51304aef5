"""A demo persona with a month of talk and memories, loaded and taken away as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from itertools import count
from typing import Any

from plastic_memories.hub.personas.personas import Personas
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.model.key import Caller

DEMO_PERSONA = "demo"
_APP = "demo"
_DAY_S = 86_400.0
_TURN_S = 40.0
LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class DemoPersona:
    personas: Personas
    transfer: Transfer

    async def load(self, caller: Caller, language: str, now: float) -> Mapping[str, int]:
        """Store the demo, unless it is there already; return how much was stored."""
        owner = caller.owner(DEMO_PERSONA)
        if any(one.owner == owner for one in await self.personas.list_personas(caller.user)):
            return {}
        lines = [json.dumps(line, ensure_ascii=False) for line in demo_lines(language, now)]
        report = await self.transfer.run_import(caller, lines, dry_run=False, trust=True)
        return report.counts

    async def remove(self, caller: Caller) -> Mapping[str, Any]:
        """Erase the demo with everything it holds; return the receipt."""
        return await self.personas.delete(caller, caller.owner(DEMO_PERSONA), DEMO_PERSONA)


def demo_lines(language: str, now: float) -> Iterator[dict[str, Any]]:
    """Yield the demo as lines of an export; its days are counted back from now."""
    name = f"demo_{language}.json"
    story = json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    ids = count(1)
    yield {"kind": "plastic_memories", "version": 1}
    yield {"kind": "persona", "persona_id": DEMO_PERSONA, **story["persona"]}
    for memory in story["persona_memories"]:
        yield _memory_line(memory, next(ids), now - 30 * _DAY_S, {})
    for day in story["days"]:
        yield from _day_lines(day, now - day["days_ago"] * _DAY_S, ids)


def _day_lines(
    day: Mapping[str, Any], start: float, ids: Iterator[int]
) -> Iterator[dict[str, Any]]:
    session = {"session_id": f"demo-{day['days_ago']}", "source_app": _APP}
    message_ids: dict[str, int] = {}
    for turn, (role, content) in enumerate(day["talk"]):
        message_ids[content] = next(ids)
        yield {
            "kind": "message",
            "id": message_ids[content],
            "persona_id": DEMO_PERSONA,
            "role": role,
            "content": content,
            "ts": start + turn * _TURN_S,
            **session,
        }
    for memory in day["memories"]:
        source = next((said for said in message_ids if memory.get("quote", "\0") in said), None)
        sources = {"source_message_ids": [message_ids[source]]} if source else {}
        yield _memory_line(memory, next(ids), start + 600, {**session, **sources})


def _memory_line(
    memory: Mapping[str, Any], memory_id: int, at: float, place: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a memory as a line; `in_days` says how long after its day an event takes place."""
    given = {name: value for name, value in memory.items() if name != "in_days"}
    dated: dict[str, Any] = {}
    if "in_days" in memory:
        occurs_at = at + memory["in_days"] * _DAY_S
        date = datetime.fromtimestamp(occurs_at, UTC).date().isoformat()
        dated = {"occurred_at": occurs_at, "attributes": {"date": date}}
    return {
        "kind": "memory",
        "id": memory_id,
        "persona_id": DEMO_PERSONA,
        "status": "active",
        "source_type": "model_inferred",
        "created_at": at,
        "updated_at": at,
        **dated,
        **place,
        **given,
    }
