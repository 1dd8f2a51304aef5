"""Import some lines of an export in one transaction."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.errors import InvalidInput, Rejected
from plastic_memories.formats import export_lines
from plastic_memories.formats.character_card import read_card, rewrite_card
from plastic_memories.formats.import_index import IndexedLine, parse_line
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import active_in_slot
from plastic_memories.hub.transfer.import_progress import ImportProgress, RowKey, text_digest
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
from plastic_memories.rules.lifecycle.user_facts import as_stored
from plastic_memories.rules.prompt.always_told import as_a_strangers

# One transaction holds up every other writer: it ends after so many lines, or so long.
SLICE_LINES = 200
SLICE_S = 0.05
_NO_ID = 0


@dataclass(frozen=True, slots=True)
class ImportTerms:
    """What holds for every line of an import.

    A trusted import (by the caller's word or by our signature) keeps the status of each row.
    Otherwise rows that would be in every prompt become candidates. With `match_any_status` a row
    that was imported before is left as it is, whatever became of it since. A dry run stores
    nothing.
    """

    caller: Caller
    screening: Screening
    now: float
    is_trusted: bool
    dry_run: bool = False
    match_any_status: bool = False
    import_id: int | None = None  # without one, what is added is not recorded


@dataclass(frozen=True, slots=True)
class ImportSlice:
    """The part of an import that one transaction does; it adds to `progress`."""

    stores: Stores
    terms: ImportTerms
    progress: ImportProgress

    def run(self, lines: Sequence[IndexedLine], start: int) -> int:
        """Import lines from `start` on until the slice is full; return where the next begins."""
        steps: dict[str, Callable[[Owner, Mapping[str, Any], int], None]] = {
            "persona": self._import_persona,
            "card": self._import_card,
            "message": self._import_message,
            "memory": self._import_memory,
            "goal": self._import_goal,
        }
        end = min(len(lines), start + SLICE_LINES)
        ends_at = time.perf_counter() + SLICE_S
        for place in range(start, end):
            line = parse_line(lines[place].text)
            assert line is not None, "it was read before"
            if lines[place].kind == "settings":
                self._import_settings(line, lines[place].number)
            else:
                self._import_line(steps[lines[place].kind], line, lines[place].number)
            if time.perf_counter() > ends_at:
                return place + 1
        return end

    def _import_line(
        self,
        step: Callable[[Owner, Mapping[str, Any], int], None],
        line: Mapping[str, Any],
        number: int,
    ) -> None:
        try:
            owner = export_lines.owner_from_line(
                line, self.terms.caller.user.tenant_id, self.terms.caller.user.user_id
            )
            self.terms.caller.owner(self.terms.screening.screen_identifier(owner.persona_id))
            step(owner, line, number)
        except InvalidInput as error:
            self.progress.skipped.append({"line": number, "reason": error.message})
        except Rejected as error:
            category = (error.detail or {}).get("category", "")
            self.progress.skipped.append({"line": number, "reason": f"refused: {category}"})

    def _import_settings(self, line: Mapping[str, Any], number: int) -> None:
        """Adopt the settings unless the user has set their own: those were set on purpose."""
        try:
            zone, language = export_lines.settings_from_line(line)
        except InvalidInput as error:
            self.progress.skipped.append({"line": number, "reason": error.message})
            return
        known = self.stores.personas.settings(self.terms.caller.user)
        is_known = known.updated_at != 0 or self.progress.rows.get(("settings",)) is not None
        if is_known or (zone, language) == (known.time_zone, known.language):
            return
        self.progress.rows["settings",] = _NO_ID
        self.progress.counts["settings"] += 1
        if not self.terms.dry_run:
            self.stores.personas.save_settings(
                replace(known, time_zone=zone, language=language, updated_at=self.terms.now)
            )

    def _import_persona(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        persona = export_lines.persona_from_line(line, owner)
        screened = replace(
            persona,
            display_name=self.terms.screening.screen_text(persona.display_name),
            description=self.terms.screening.screen_text(persona.description),
            updated_at=persona.updated_at or self.terms.now,
        )
        if self._ensure_persona(owner, persona.created_at):
            self.progress.counts["personas"] += 1
            if not self.terms.dry_run:
                self.stores.personas.save(screened)

    def _ensure_persona(self, owner: Owner, created_at: float = 0) -> bool:
        """Make the persona exist; return whether it is new."""
        if not self.terms.dry_run:
            is_new = self.stores.personas.ensure(owner, created_at or self.terms.now)
            if is_new:
                self.progress.added.append(("personas", owner, _NO_ID))
            return is_new
        key = ("persona", owner)
        is_new = key not in self.progress.rows and self.stores.personas.get(owner) is None
        self.progress.rows[key] = _NO_ID
        return is_new

    def _import_card(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        """Store the card of a persona; its rows are separate lines."""
        card, _ = read_card(
            rewrite_card(export_lines.card_from_line(line), self.terms.screening.screen_values)
        )
        existing = self.stores.cards.get(owner)
        digest = ("card", owner, text_digest(card.original.hex()))
        if existing is not None or ("card", owner) in self.progress.rows:
            same = existing == card.original or digest in self.progress.rows
            self.progress.counts["already_there"] += same
            if not same:
                self.progress.skipped.append(
                    {"line": number, "reason": "the persona has another card"}
                )
            return
        self._ensure_persona(owner)
        self.progress.rows["card", owner] = self.progress.rows[digest] = _NO_ID
        if not self.terms.dry_run:
            self.stores.cards.put(owner, card.original, self.terms.now)
        self.progress.counts["cards"] += 1

    def _import_message(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        message = export_lines.message_from_line(line, owner, self.terms.now)
        masked = self.terms.screening.mask_message(message)
        existing_id = self._find_same_message(masked, has_time=line.get("ts") is not None)
        if existing_id is not None:
            _map_id(self.progress.message_ids, message.id, existing_id)
            self.progress.counts["already_there"] += 1
            return
        self._ensure_persona(owner)
        new_id = _NO_ID if self.terms.dry_run else self._add_message(masked)
        _map_id(self.progress.message_ids, message.id, new_id)
        self._remember_message(masked, new_id)
        self.progress.counts["messages"] += 1

    def _add_message(self, message: Message) -> int:
        new_id = self.stores.messages.append([message])[0].message_id
        self.progress.added.append(("messages", message.owner, new_id))
        if message.hidden_at is not None:
            self.stores.messages.hide(message.owner, [new_id], message.hidden_at)
        self._mark_digested(replace(message, id=new_id))
        return new_id

    def _mark_digested(self, message: Message) -> None:
        """Move the watermark past an imported message: its memories come with the import."""
        session = self.stores.sessions.record_messages(
            conversation_of(message), 0, 0, self.terms.now
        )
        if not session.waiting:
            self.stores.sessions.save(replace(session, watermark=message.id))

    def _find_same_message(self, message: Message, *, has_time: bool) -> int | None:
        """Return the id of the same message; one without a time is the same at any time."""
        place = message.ts if has_time else message.session_id
        group = ("messages", message.owner, has_time, place)
        if group not in self.progress.groups:
            wanted = MessageFilter(session_id=message.session_id)
            if has_time:
                until = math.nextafter(message.ts, math.inf)
                wanted = MessageFilter(since_ts=message.ts, until_ts=until)
            for other in self.stores.messages.find(message.owner, wanted):
                self._remember_message(other, other.id)
            self.progress.groups[group] = True
        return self.progress.rows.get(_message_key(message, message.ts if has_time else None))

    def _remember_message(self, message: Message, message_id: int) -> None:
        for ts in (message.ts, None):
            self.progress.rows[_message_key(message, ts)] = message_id

    def _import_memory(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        line_memory = export_lines.memory_from_line(line, owner, self.terms.now)
        memory = as_stored(self.terms.screening.screen_memory(line_memory))
        marks = tombstone_digests(self.stores.tombstones.secret(), owner, memory)
        if self.stores.tombstones.covers(owner, marks):
            self.progress.skipped.append({"line": number, "reason": NEVER_AGAIN})
            return
        admitted = memory if self.terms.is_trusted else as_a_strangers(memory)
        created_at = memory.created_at if line.get("created_at") else None
        same = {memory.status, admitted.status}
        statuses = set(Status) if self.terms.match_any_status else same
        existing_id = self._find_same_memory(memory, created_at, statuses)
        if existing_id is not None:
            _map_id(self.progress.memory_ids, memory.id, existing_id)
            self._touch_slot(memory)
            self.progress.counts["already_there"] += 1
            return
        rival_id = self._conflicting_id(memory)
        if rival_id is not None:
            self.progress.conflicts.append(
                {
                    "line": number,
                    "type": memory.type.value,
                    "key": memory.key,
                    "active_memory_id": rival_id,
                }
            )
            return
        self.progress.counts["waiting"] += admitted.status is not memory.status
        self._ensure_persona(owner)
        self._add_memory(admitted)

    def _add_memory(self, memory: Memory) -> None:
        memory_ids, message_ids = self.progress.memory_ids, self.progress.message_ids
        translated = replace(
            memory,
            id=_NO_ID,
            root_id=memory_ids.get(memory.root_id, 0),
            supersedes_id=memory_ids.get(memory.supersedes_id or 0),
            superseded_by=None,
            source_message_ids=tuple(
                message_ids[old] for old in memory.source_message_ids if old in message_ids
            ),
        )
        added = translated
        if not self.terms.dry_run:
            added = self.stores.memories.add(translated)
            self.progress.added.append(("memories", added.owner, added.id))
            self._link_back(added)
        _map_id(memory_ids, memory.id, added.id)
        self._remember_memory(added)
        self._touch_slot(added)
        self.progress.counts["memories"] += 1

    def _link_back(self, added: Memory) -> None:
        """Set `superseded_by` on the older version; it was imported before."""
        if added.supersedes_id is None:
            return
        older = self.stores.memories.get(added.owner, added.supersedes_id)
        if older is not None and older.status is not Status.ACTIVE:
            self.stores.memories.save(replace(older, superseded_by=added.id))

    def _touch_slot(self, memory: Memory) -> None:
        """Note a slot to be rebuilt at the end; once, however many rows it has."""
        if memory.is_slot and memory.status is Status.ACTIVE:
            self.progress.slots[_slot_key(memory)] = memory

    def _find_same_memory(
        self, memory: Memory, created_at: float | None, statuses: Collection[Status]
    ) -> int | None:
        """Return the id of the same memory; one without a time is the same at any time."""
        group = _memory_group(memory)
        if group not in self.progress.groups:
            wanted = MemoryFilter(
                types={memory.type},
                key=memory.key,
                bot_id=memory.bot_id,
                scope=memory.scope,
                scope_ref=memory.scope_ref,
                realm=memory.realm,
            )
            for other in self.stores.memories.find(memory.owner, wanted):
                self._remember_memory(other)
            self.progress.groups[group] = True
        digest = text_digest(memory.content)
        found = (self.progress.rows.get((*group, digest, created_at, one)) for one in statuses)
        return next((row_id for row_id in found if row_id is not None), None)

    def _remember_memory(self, memory: Memory) -> None:
        group, digest = _memory_group(memory), text_digest(memory.content)
        for created_at in (memory.created_at, None):
            self.progress.rows[*group, digest, created_at, memory.status] = memory.id
        if memory.status is Status.ACTIVE:
            self.progress.rows[_active_key(memory)] = memory.id
            self.progress.rows[_slot_key(memory)] = memory.id

    def _conflicting_id(self, memory: Memory) -> int | None:
        """Return the id of the active row that an active import would replace."""
        if memory.status is not Status.ACTIVE:
            return None
        is_single = memory.is_slot and memory.type not in LIST_SLOTS
        if self.terms.dry_run:  # what an earlier slice would have stored is not in the database
            added = self.progress.rows.get(_slot_key(memory) if is_single else _active_key(memory))
            if added is not None:
                return added
        wanted = MemoryFilter(
            statuses={Status.ACTIVE},
            types={memory.type},
            key=memory.key,
            bot_id=memory.bot_id,
            scope=memory.scope,
            scope_ref=memory.scope_ref,
            realm=memory.realm,
        )
        rivals = (
            active_in_slot(self.stores, memory)
            if is_single
            else [
                row
                for row in self.stores.memories.find(memory.owner, wanted)
                if row.branch_id == memory.branch_id
            ]
        )
        return rivals[0].id if rivals else None

    def _import_goal(self, owner: Owner, line: Mapping[str, Any], number: int) -> None:
        goal = export_lines.goal_from_line(line, owner, self.terms.now)
        screened = replace(
            goal,
            title=self.terms.screening.screen_text(goal.title),
            details=self.terms.screening.screen_text(goal.details),
        )
        if self._has_goal(screened, has_time=bool(line.get("created_at"))):
            self.progress.counts["already_there"] += 1
            return
        self._ensure_persona(owner)
        self.progress.rows[_goal_key(screened, screened.created_at)] = _NO_ID
        self.progress.counts["goals"] += 1
        if not self.terms.dry_run:
            self._add_goal(screened)

    def _add_goal(self, goal: Goal) -> None:
        added = self.stores.goals.add(goal)
        self.progress.added.append(("goals", goal.owner, added.id))
        for link in goal.links:
            memory_id = self.progress.memory_ids.get(link.memory_id or 0)
            translated = replace(
                link,
                goal_id=added.id,
                memory_id=memory_id,
                note=self.terms.screening.screen_text(link.note),
            )
            self.stores.goals.link(goal.owner, translated)

    def _has_goal(self, goal: Goal, *, has_time: bool) -> bool:
        group = ("goals", goal.owner)
        if group not in self.progress.groups:
            for other in self.stores.goals.find(goal.owner, None):
                for created_at in (other.created_at, None):
                    self.progress.rows[_goal_key(other, created_at)] = other.id
            self.progress.groups[group] = True
        key = _goal_key(goal, goal.created_at if has_time else None)
        return key in self.progress.rows


def _map_id(known: MutableMapping[int, int], foreign: int, local: int) -> None:
    """Map a foreign id; a line without one (0) must not become a version of the next such line."""
    if foreign:
        known[foreign] = local


def _message_key(message: Message, ts: float | None) -> RowKey:
    digest = text_digest(message.content)
    return ("message", message.owner, message.session_id, ts, message.role, digest)


def _memory_group(memory: Memory) -> RowKey:
    scope = (memory.scope, memory.scope_ref, memory.realm)
    return ("memory", memory.owner, memory.type, memory.key, memory.bot_id, *scope)


def _active_key(memory: Memory) -> RowKey:
    return ("active", *_memory_group(memory), memory.branch_id)


def _slot_key(memory: Memory) -> RowKey:
    return ("slot", memory.owner, memory.type, memory.bot_id, memory.realm)


def _goal_key(goal: Goal, created_at: float | None) -> RowKey:
    return ("goal", goal.owner, goal.title, created_at)
