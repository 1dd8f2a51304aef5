"""Import the lines of an export in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plastic_memories.errors import InvalidInput, Rejected
from plastic_memories.formats import export_lines
from plastic_memories.formats.character_card import read_card, rewrite_card
from plastic_memories.formats.export_signature import is_own
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import (
    active_in_slot,
    active_with_key,
    refresh_slot,
)
from plastic_memories.model.goal import Goal
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import LIST_SLOTS, Memory, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.tombstones import NEVER_AGAIN, tombstone_digests
from plastic_memories.rules.prompt.always_told import as_a_strangers


@dataclass(frozen=True, slots=True)
class ImportReport:
    counts: Mapping[str, int]
    conflicts: list[Mapping[str, Any]]
    skipped: list[Mapping[str, Any]]
    is_trusted: bool


@dataclass(slots=True)
class ExportImporter:
    """One import; foreign ids are mapped to local ids as rows are added.

    A trusted import (by the caller's word or by our signature) keeps the status of each row.
    Otherwise rows that would be in every prompt become candidates.
    """

    stores: Stores
    caller: Caller
    screening: Screening
    now: float
    is_trusted: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    conflicts: list[Mapping[str, Any]] = field(default_factory=list)
    skipped: list[Mapping[str, Any]] = field(default_factory=list)
    _memory_ids: dict[int, int] = field(default_factory=dict)
    _message_ids: dict[int, int] = field(default_factory=dict)

    def run(self, lines: Iterable[str]) -> ImportReport:
        """Import messages first, then memories in order of creation, then goals."""
        parsed = [(number, self._parse(number, text)) for number, text in enumerate(lines, 1)]
        readable = [(number, line) for number, line in parsed if line is not None]
        self.is_trusted = self.is_trusted or self._is_own([line for _, line in readable])
        for number, line in readable:
            if line["kind"] == "settings":
                self._import_settings(line, number)
        steps: dict[str, Callable[[Owner, Mapping[str, Any], int], None]] = {
            "persona": self._import_persona,
            "card": self._import_card,
            "message": self._import_message,
            "memory": self._import_memory,
            "goal": self._import_goal,
        }
        for kind, step in steps.items():
            chosen = [(n, line) for n, line in readable if line.get("kind") == kind]
            for number, line in sorted(chosen, key=lambda pair: _line_id(pair[1])):
                self._import_line(step, line, number)
        return ImportReport(dict(+self.counts), self.conflicts, self.skipped, self.is_trusted)

    def _is_own(self, lines: list[Mapping[str, Any]]) -> bool:
        """Return whether this hub wrote the lines for this user, and nobody changed them."""
        # An unreadable line was not written by us.
        secret = self.stores.tombstones.secret()
        return not self.skipped and is_own(secret, self.caller.user, lines)

    def _parse(self, number: int, text: str) -> Mapping[str, Any] | None:
        if not text.strip():
            return None
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict) and isinstance(line.get("kind"), str):
            return line
        self.skipped.append({"line": number, "reason": "not a line of an export"})
        return None

    def _import_line(
        self,
        step: Callable[[Owner, Mapping[str, Any], int], None],
        line: Mapping[str, Any],
        number: int,
    ) -> None:
        try:
            owner = export_lines.owner_from_line(
                line, self.caller.user.tenant_id, self.caller.user.user_id
            )
            self.caller.owner(self.screening.screen_identifier(owner.persona_id))
            step(owner, line, number)
        except InvalidInput as error:
            self.skipped.append({"line": number, "reason": error.message})
        except Rejected as error:
            category = (error.detail or {}).get("category", "")
            self.skipped.append({"line": number, "reason": f"refused: {category}"})

    def _import_settings(self, line: Mapping[str, Any], number: int) -> None:
        """Adopt the settings unless the user has set their own: those were set on purpose."""
        try:
            zone, language = export_lines.settings_from_line(line)
        except InvalidInput as error:
            self.skipped.append({"line": number, "reason": error.message})
            return
        known = self.stores.personas.settings(self.caller.user)
        if known.updated_at == 0 and (zone, language) != (known.time_zone, known.language):
            self.stores.personas.save_settings(
                replace(known, time_zone=zone, language=language, updated_at=self.now)
            )
            self.counts["settings"] += 1

    def _import_persona(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        persona = export_lines.persona_from_line(line, owner)
        screened = replace(
            persona,
            display_name=self.screening.screen_text(persona.display_name),
            description=self.screening.screen_text(persona.description),
            updated_at=self.now,
        )
        if self.stores.personas.ensure(owner, self.now):
            self.stores.personas.save(screened)
            self.counts["personas"] += 1

    def _import_card(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        """Store the card of a persona; its rows are separate lines."""
        card, _ = read_card(
            rewrite_card(export_lines.card_from_line(line), self.screening.screen_values)
        )
        existing = self.stores.cards.get(owner)
        if existing is not None:
            same = existing == card.original
            self.counts["already_there"] += same
            if not same:
                self.skipped.append({"line": number, "reason": "the persona has another card"})
            return
        self.stores.personas.ensure(owner, self.now)
        self.stores.cards.put(owner, card.original, self.now)
        self.counts["cards"] += 1

    def _import_message(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        message = export_lines.message_from_line(line, owner, self.now)
        masked = self.screening.mask_message(message)
        existing_id = self._find_same_message(masked)
        if existing_id is not None:
            self._message_ids[message.id] = existing_id
            self.counts["already_there"] += 1
            return
        self.stores.personas.ensure(owner, self.now)
        stored = self.stores.messages.append([masked])[0]
        if message.hidden_at is not None:
            self.stores.messages.hide(owner, [stored.message_id], message.hidden_at)
        self._message_ids[message.id] = stored.message_id
        self._mark_digested(replace(masked, id=stored.message_id))
        self.counts["messages"] += 1

    def _mark_digested(self, message: Message) -> None:
        """Move the watermark past an imported message: its memories come with the import."""
        session = self.stores.sessions.record_messages(conversation_of(message), 0, 0, self.now)
        if not session.waiting:
            self.stores.sessions.save(replace(session, watermark=message.id))

    def _find_same_message(self, message: Message) -> int | None:
        wanted = MessageFilter(
            session_id=message.session_id, since_ts=message.ts, until_ts=message.ts + 0.001
        )
        for other in self.stores.messages.find(message.owner, wanted):
            if (other.role, other.content) == (message.role, message.content):
                return other.id
        return None

    def _import_memory(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        memory = self.screening.screen_memory(export_lines.memory_from_line(line, owner, self.now))
        marks = tombstone_digests(self.stores.tombstones.secret(), owner, memory)
        if self.stores.tombstones.covers(owner, marks):
            self.skipped.append({"line": number, "reason": NEVER_AGAIN})
            return
        admitted = memory if self.is_trusted else as_a_strangers(memory)
        duplicate = self._find_same_memory(memory, {memory.status, admitted.status})
        if duplicate is not None:
            self._memory_ids[memory.id] = duplicate.id
            self.counts["already_there"] += 1
            return
        rival = self._conflicting_row(memory)
        if rival is not None:
            self.conflicts.append(
                {
                    "line": number,
                    "type": memory.type.value,
                    "key": memory.key,
                    "active_memory_id": rival.id,
                }
            )
            return
        self.counts["waiting"] += admitted.status is not memory.status
        self._add_memory(admitted)

    def _add_memory(self, memory: Memory) -> None:
        self.stores.personas.ensure(memory.owner, self.now)
        translated = replace(
            memory,
            id=0,
            root_id=self._memory_ids.get(memory.root_id, 0),
            supersedes_id=self._memory_ids.get(memory.supersedes_id or 0),
            superseded_by=None,
            source_message_ids=tuple(
                self._message_ids[old]
                for old in memory.source_message_ids
                if old in self._message_ids
            ),
        )
        added = self.stores.memories.add(translated)
        self._memory_ids[memory.id] = added.id
        self._link_back(added)
        refresh_slot(self.stores, self.caller, added, self.now)
        self.counts["memories"] += 1

    def _link_back(self, added: Memory) -> None:
        """Set `superseded_by` on the older version; it was imported before."""
        if added.supersedes_id is None:
            return
        older = self.stores.memories.get(added.owner, added.supersedes_id)
        if older is not None and older.status is not Status.ACTIVE:
            self.stores.memories.save(replace(older, superseded_by=added.id))

    def _find_same_memory(self, memory: Memory, statuses: Collection[Status]) -> Memory | None:
        wanted = MemoryFilter(
            types={memory.type},
            key=memory.key,
            bot_id=memory.bot_id,
            scope=memory.scope,
            scope_ref=memory.scope_ref,
            realm=memory.realm,
            statuses=statuses,
        )
        for other in self.stores.memories.find(memory.owner, wanted):
            if (other.content, other.created_at) == (memory.content, memory.created_at):
                return other
        return None

    def _conflicting_row(self, memory: Memory) -> Memory | None:
        """Return the active row that an active import would replace."""
        if memory.status is not Status.ACTIVE:
            return None
        rivals = active_with_key(self.stores, memory)
        if memory.is_slot and memory.type not in LIST_SLOTS:
            rivals = active_in_slot(self.stores, memory)
        return rivals[0] if rivals else None

    def _import_goal(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        goal = export_lines.goal_from_line(line, owner, self.now)
        screened = replace(
            goal,
            title=self.screening.screen_text(goal.title),
            details=self.screening.screen_text(goal.details),
        )
        if self._has_goal(screened):
            self.counts["already_there"] += 1
            return
        self.stores.personas.ensure(owner, self.now)
        added = self.stores.goals.add(screened)
        for link in goal.links:
            memory_id = self._memory_ids.get(link.memory_id or 0)
            translated = replace(
                link,
                goal_id=added.id,
                memory_id=memory_id,
                note=self.screening.screen_text(link.note),
            )
            self.stores.goals.link(owner, translated)
        self.counts["goals"] += 1

    def _has_goal(self, goal: Goal) -> bool:
        return any(
            (other.title, other.created_at) == (goal.title, goal.created_at)
            for other in self.stores.goals.find(goal.owner, None)
        )


def _line_id(line: Mapping[str, Any]) -> int:
    value = line.get("id")
    return value if isinstance(value, int) else 0
