"""Apply corrections: what a user takes back or changes is ended and marked, and can be restored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from plastic_memories.hub.formation.summary_trimming import EndedStatements, trim_summaries
from plastic_memories.hub.transactions.audit_events import app_of, record_event, record_memory
from plastic_memories.language.corrections.correction_statements import (
    CorrectionStatement,
    find_corrections,
    restates_old,
    split_clauses,
)
from plastic_memories.language.corrections.matching import (
    StatedMemory,
    TermRarity,
    ends_memory,
    match_score,
)
from plastic_memories.language.corrections.statement_kinds import (
    keys_of_kind,
    kinds_of_key,
    states_kind,
)
from plastic_memories.language.text.tokens import READ_CHARS, normalise_script
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, Status
from plastic_memories.model.message import CorrectedIds, Message, Role
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.corrected_talk import corrected_messages, echoes_of
from plastic_memories.rules.lifecycle.corrected_memories import (
    corrected_memory,
    restored_memory,
    was_corrected,
)
from plastic_memories.rules.lifecycle.transitions import (
    comparable_value,
    value_as_written,
)

CORRECT_EVENT = "memory.correct"
# Messages of the same conversation that are compared, and those that a search adds.
_LAST_MESSAGES = 60
_FOUND_MESSAGES = 40
# Messages read for a statement of the same kind.
_KIND_MESSAGES = 300
_LIVE = (Status.ACTIVE, Status.CANDIDATE)
_LEARNED_TYPES = frozenset(
    {MemoryType.PROFILE, MemoryType.EVENT, MemoryType.NOTE, MemoryType.FACT, MemoryType.STABLE_FACT}
)


def apply_corrections(
    stores: Stores, caller: Caller, owner: Owner, messages: Sequence[Message], now: float
) -> list[Memory]:
    """End what the messages correct, mark the corrected messages, and return the ended memories.

    It may be run again for the same messages: what was undone since stays as it is. Messages that
    correct one of these and were read before it are applied again, for what was learned meanwhile.
    """
    ids = [message.id for message in messages]
    later = stores.corrections.find_correcting(owner, ids) - set(ids)
    again = stores.messages.find(owner, MessageFilter(ids=later, hidden=False)) if later else []
    ended: list[Memory] = []
    for message in sorted([*messages, *again], key=lambda one: one.id):
        if message.role is Role.USER and message.realm is Realm.REAL:
            ended += _MessageCorrections(stores, caller, owner, message, now).apply()
    return ended


def end_corrected_memories(
    stores: Stores,
    caller: Caller,
    owner: Owner,
    messages: Sequence[Message],
    new: Collection[int],
    now: float,
) -> list[Memory]:
    """End the memories that messages correct which are not stored; `new` were learned from them."""
    ended: list[Memory] = []
    for message in messages:
        if message.role is Role.USER and message.realm is Realm.REAL:
            said = _MessageCorrections(stores, caller, owner, message, now, frozenset(new))
            ended += said.apply()
    return ended


def has_correction(messages: Iterable[Message]) -> bool:
    """Return whether a user corrects something in these messages."""
    return any(one.role is Role.USER and bool(find_corrections(one.content)) for one in messages)


def link_replaced(stores: Stores, owner: Owner, pairs: Iterable[tuple[int, int]]) -> None:
    """Note that messages state a newer value of the same thing: (old message, new message)."""
    for old_id, new_id in pairs:
        if 0 < old_id < new_id:
            stores.corrections.add(owner, new_id, CorrectedIds(frozenset({old_id})))


def possible_old_statements(draft: Draft, messages: Iterable[Message]) -> list[Message]:
    """Return earlier messages that may give the key of a draft an older value."""
    kinds = kinds_of_key(draft.key) if draft.source_message_ids else ()
    return [
        message
        for message in messages
        if message.role is Role.USER
        and kinds
        and message.id < max(draft.source_message_ids)
        and message.id not in draft.source_message_ids
        and any(states_kind(normalise_script(message.content[:READ_CHARS]), kind) for kind in kinds)
    ]


def states_another_value(old: Draft, new: Draft) -> bool:
    """Return whether two drafts give one key two values."""
    is_same_key = (old.type, old.key, old.realm) == (new.type, new.key, new.realm)
    return is_same_key and comparable_value(old) != comparable_value(new)


def apply_replacements(
    stores: Stores, caller: Caller, owner: Owner, memories: Iterable[Memory], now: float
) -> None:
    """Mark the messages whose value these memories replace, and those that replaced theirs."""
    for memory in memories:
        if memory.type not in _LEARNED_TYPES:
            continue
        before = _neighbour(stores, memory, memory.supersedes_id)
        after = _neighbour(stores, memory, memory.superseded_by)
        pairs = [(before, memory)] if before else []
        pairs += [(memory, after)] if after else []
        link_replaced(stores, owner, _source_pairs(pairs))
        ended = EndedStatements([old for old, _ in pairs])
        trim_summaries(stores, caller, owner, ended, now)


def _neighbour(stores: Stores, memory: Memory, memory_id: int | None) -> Memory | None:
    return stores.memories.get(memory.owner, memory_id) if memory_id else None


def _source_pairs(pairs: Iterable[tuple[Memory, Memory]]) -> Iterable[tuple[int, int]]:
    for old, new in pairs:
        if new.source_message_ids:
            last = max(new.source_message_ids)
            yield from ((one, last) for one in old.source_message_ids)


def restore_corrected(
    stores: Stores, caller: Caller, owner: Owner, message_ids: Collection[int], now: float
) -> list[Memory]:
    """Restore what these messages have ended: they were edited, erased or left behind."""
    restored: list[Memory] = []
    for memory_id in sorted(stores.corrections.remove(owner, message_ids)):
        memory = stores.memories.get(owner, memory_id)
        if memory is not None and _may_return(stores, memory, now):
            back = restored_memory(memory, now)
            stores.memories.save(back)
            record_memory(stores, caller, "memory.restore", back, now)
            restored.append(back)
    return restored


def _may_return(stores: Stores, memory: Memory, now: float) -> bool:
    if not was_corrected(memory) or memory.is_expired_at(now):
        return False
    same_key = stores.memories.find_same_key(memory.owner, memory)
    return all(row.status is not Status.ACTIVE for row in same_key)


@dataclass(frozen=True, slots=True)
class _MessageCorrections:
    """The corrections of one message."""

    stores: Stores
    caller: Caller
    owner: Owner
    message: Message  # its id is 0 if it is not stored
    now: float
    new_memory_ids: frozenset[int] = frozenset()  # learned from the message itself

    def apply(self) -> list[Memory]:
        statements = find_corrections(self.message.content)
        if not statements:
            return []
        known = self.stores.corrections.find(self.owner, self.message.id)
        earlier = self._earlier_messages(statements)
        rarity = self._rarity(statements)
        links: set[int] = set()
        ended: dict[int, Memory] = {}
        done: set[str] = set()  # clauses whose meaning is found
        for statement in statements:
            if statement.clause in done:
                continue
            found = corrected_messages(
                statement, earlier, rarity, self.message.session_id, sorted(links)
            )
            rows = self._memories_ended_by(statement, found, rarity)
            if found or rows:
                done.add(statement.clause)
            links |= {one.id for one in [*found, *echoes_of(statement, found, earlier)]}
            new = {row.id: row for row in rows if row.id not in known.memory_ids}
            ended |= new
            self._trim_summaries(statement, found, list(new.values()), rarity)
        if links:
            ended |= {row.id: row for row in self._notes_of_old_value(known.memory_ids)}
        corrected = CorrectedIds(frozenset(links), frozenset(ended))
        if self.message.id:
            self.stores.corrections.add(self.owner, self.message.id, corrected)
        return [self._end(row) for row in ended.values()]

    def _earlier_messages(self, statements: Sequence[CorrectionStatement]) -> list[Message]:
        """Return what may be corrected, oldest first: the conversation, and what shares words."""
        message = self.message
        same_session = MessageFilter(
            session_id=message.session_id,
            bot_id=message.bot_id,
            before_id=message.id or None,
            hidden=False,
            limit=_LAST_MESSAGES,
        )
        rows = self.stores.messages.find(self.owner, same_session)
        view = Viewpoint(owner=self.owner, bot_id=message.bot_id)
        terms = list(dict.fromkeys(term for one in statements for term in one.search_terms))
        rows += self.stores.message_search.search(view, terms, _FOUND_MESSAGES) if terms else []
        rows += self._sources_of_kinds(statements)
        by_id = {row.id: row for row in rows if self._may_be_corrected(row)}
        return [by_id[one] for one in sorted(by_id)]

    def _sources_of_kinds(self, statements: Sequence[CorrectionStatement]) -> list[Message]:
        """Return messages of the kinds that are changed: they need no word in common."""
        kinds = {kind for one in statements for kind in one.kinds}
        if not kinds:
            return []
        ids = {one for row in self._memories_of(kinds) for one in row.source_message_ids}
        last = MessageFilter(
            bot_id=self.message.bot_id,
            before_id=self.message.id or None,
            hidden=False,
            limit=_KIND_MESSAGES,
        )
        rows = self.stores.messages.find(self.owner, last)
        rows += self.stores.messages.find(self.owner, MessageFilter(ids=ids, hidden=False))
        return [
            row
            for row in rows
            if any(states_kind(normalise_script(row.content[:READ_CHARS]), one) for one in kinds)
        ]

    def _may_be_corrected(self, row: Message) -> bool:
        message = self.message
        if message.id and row.id >= message.id:
            return False
        if row.realm is not Realm.REAL or row.bot_id != message.bot_id:
            return False
        if row.session_id == message.session_id and row.branch_id != message.branch_id:
            return False
        return row.role is Role.ASSISTANT or (
            row.role is Role.USER and row.speaker == message.speaker
        )

    def _rarity(self, statements: Sequence[CorrectionStatement]) -> TermRarity:
        terms = list(dict.fromkeys(term for one in statements for term in one.search_terms))
        known = self.stores.message_search.document_counts(self.owner, terms)
        return TermRarity(known.counts, known.messages)

    def _memories_ended_by(
        self, statement: CorrectionStatement, found: Sequence[Message], rarity: TermRarity
    ) -> list[Memory]:
        rows = self._memories_of(statement.kinds)
        if found:
            wanted = MemoryFilter(statuses=_LIVE, source_message_ids={one.id for one in found})
            rows += self.stores.memories.find(self.owner, wanted)
        rows += self._memories_without_messages(statement, rarity)
        distinct = {row.id: row for row in rows if self._may_be_ended(row)}
        return [
            row for row in distinct.values() if ends_memory(statement, _compared_parts(row), rarity)
        ]

    def _memories_without_messages(
        self, statement: CorrectionStatement, rarity: TermRarity
    ) -> list[Memory]:
        """Return the written memory that a statement means, unless several fit alike."""
        view = Viewpoint(owner=self.owner, bot_id=self.message.bot_id)
        terms = statement.search_terms
        found = self.stores.memory_search.search(view, terms, _FOUND_MESSAGES, self.now).memories
        scores = {
            row.id: match_score(statement, row.content, rarity)
            for row in found
            if not row.source_message_ids and row.id not in self.new_memory_ids
        }
        best = max(scores.values(), default=0.0)
        meant = [row for row in found if best and scores.get(row.id) == best]
        return meant if len(meant) == 1 else []

    def _notes_of_old_value(self, known: Collection[int]) -> list[Memory]:
        """Return notes of this message that only repeat the old value: 头先话豉油六岁."""
        wanted = MemoryFilter(
            statuses=_LIVE, types=_LEARNED_TYPES, source_message_ids={self.message.id}
        )
        return [
            row
            for row in self.stores.memories.find(self.owner, wanted)
            if row.id not in known
            and row.source_message_ids == (self.message.id,)
            and restates_old(row.content)
        ]

    def _memories_of(self, kinds: Collection[str]) -> list[Memory]:
        return [
            row
            for kind in sorted(kinds)
            for prefix in keys_of_kind(kind)
            for row in self.stores.memories.find(
                self.owner,
                MemoryFilter(statuses=_LIVE, types={MemoryType.PROFILE}, key_prefix=prefix),
            )
        ]

    def _may_be_ended(self, row: Memory) -> bool:
        message = self.message
        is_earlier = row.id not in self.new_memory_ids
        if message.id:
            is_earlier = all(one < message.id for one in row.source_message_ids)
        is_same = (row.bot_id, row.realm) == (message.bot_id, Realm.REAL)
        was_known = row.occurred_at is None or row.occurred_at <= message.ts
        return row.type in _LEARNED_TYPES and is_earlier and is_same and was_known

    def _end(self, row: Memory) -> Memory:
        ended = corrected_memory(row, self.message.id, self.now)
        self.stores.memories.save(ended)
        record_event(
            self.stores, self.caller, CORRECT_EVENT, self.owner.persona_id, self.now,
            memory_id=row.id, type=row.type.value, status=ended.status.value,
            message_id=self.message.id, was=row.status.value, **app_of(row),
        )  # fmt: skip
        return ended

    def _trim_summaries(
        self,
        statement: CorrectionStatement,
        found: Sequence[Message],
        ended: Sequence[Memory],
        rarity: TermRarity,
    ) -> None:
        """Leave what is corrected out of the summaries that tell it."""
        clauses = [
            clause
            for one in found
            for clause in split_clauses(one.content)
            if match_score(statement, clause, rarity)
        ]
        statements = EndedStatements(ended, frozenset(one.id for one in found), clauses)
        trim_summaries(self.stores, self.caller, self.owner, statements, self.now)


def _compared_parts(row: Memory) -> StatedMemory:
    date = str(row.attributes.get("date") or "")
    return StatedMemory(row.key, value_as_written(row), f"{row.content} {row.quote} {date}")
