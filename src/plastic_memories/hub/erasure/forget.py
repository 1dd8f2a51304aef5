"""Forget memories for good: erase the rows and all derived data, and return a receipt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import InvalidInput
from plastic_memories.formats.card_memories import is_from_card
from plastic_memories.hub.formation.archiving import ArchiveConversation, queue_archiving
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import pending_in, scrub
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.transactions.audit_events import app_of, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import refresh_slot, visible_memory
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Session
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.tombstones import tombstone_digests
from plastic_memories.rules.lifecycle.transitions import comparable_value
from plastic_memories.rules.lifecycle.user_facts import home_of

_DRY_RUN_LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """Which memories to forget: by type and key, by id, or (dry run only) by a query."""

    type: MemoryType | None = None
    key: str | None = None
    memory_ids: Collection[int] = ()
    query: str | None = None
    dry_run: bool = False
    never_again: bool = False
    include_messages: bool = False
    receipt: bool = True  # checking every place again takes longer than forgetting


@dataclass(frozen=True, slots=True)
class ForgetOutcome:
    memory_ids: Sequence[int]
    receipt: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    storage: AuditedStorage
    archive: ArchiveConversation
    exports: ExportFiles
    pages: ForgetInPages

    async def __call__(
        self, caller: Caller, view: Viewpoint, request: ForgetRequest
    ) -> ForgetOutcome:
        """Erase memories with all versions and derived data; a dry run only returns their ids."""
        now = self.storage.clock.now()
        named = bool(request.memory_ids) or request.type is not None
        if not named and not request.dry_run:
            raise InvalidInput(
                "Forgetting by query needs dry_run: look first, then send the memory_ids."
            )
        if request.dry_run:
            return await self.storage.read(lambda stores: _preview(stores, view, request, now))

        def work(stores: Stores) -> tuple[ForgetOutcome, Sequence[Memory], list[Session]]:
            done, gone = _erase(stores, caller, view, request, now)
            sessions = _source_sessions(stores, view, gone)
            return done, gone, queue_archiving(stores, sessions, now, self.archive.options)

        (done, gone, archived), exports = await self.exports.write_and_refresh(view.owner, work)
        files = await self.archive.forget([(session.owner, session.id) for session in archived])
        pages = await self.pages(view.owner, gone)
        copies = {"archive": files, "exports": exports, **pages}
        residue = await scrub(self.storage, view.owner, self.archive.options)
        receipt = {**done.receipt, **copies, "pending": pending_in(copies, residue)}
        elsewhere = [*receipt.get("elsewhere", ()), *residue.kept]
        return ForgetOutcome(done.memory_ids, {**receipt, "elsewhere": elsewhere})


def _preview(stores: Stores, view: Viewpoint, request: ForgetRequest, now: float) -> ForgetOutcome:
    if request.query is not None:
        terms = query_terms(request.query)
        targets = list(stores.memory_search.search(view, terms, _DRY_RUN_LIMIT, now).memories)
    else:
        targets = _targets(stores, view, request)
    # Another persona's own global row is visible here, but is forgotten in its own persona.
    homes = (view.owner, view.owner.for_all_personas)
    own = [memory.id for memory in targets if memory.owner in homes]
    return ForgetOutcome(own, {"dry_run": True, "would_forget": len(own)})


def _erase(
    stores: Stores, caller: Caller, view: Viewpoint, request: ForgetRequest, now: float
) -> tuple[ForgetOutcome, Sequence[Memory]]:
    chosen = _targets(stores, view, request)
    targets = _with_versions(stores, view, chosen)
    message_ids = {message for memory in targets for message in memory.source_message_ids}
    derived = _derived_summaries(stores, view, message_ids, targets)
    if request.never_again:
        for memory in targets:
            marks = tombstone_digests(stores.tombstones.secret(), view.owner, memory)
            stores.tombstones.add(home_of(view.owner, memory), marks, now)
        if not targets and request.type is MemoryType.PROFILE:
            _add_key_tombstone(stores, view, request, now)
    gone = [*targets, *derived]
    stores.memories.erase(view.owner, [memory.id for memory in gone], now)
    for memory in gone:
        refresh_slot(stores, caller, memory, now)
    # The card of an erased row repeats its text: it is dropped, and can be rebuilt from the rest.
    if any(is_from_card(memory) for memory in gone):
        stores.cards.drop(view.owner)
    messages = _forget_messages(stores, view, message_ids, request, now)
    for memory in sorted(targets, key=lambda row: row.id):
        record_event(
            stores, caller, "memory.forget", view.owner.persona_id, now,
            memory_id=memory.id, **app_of(memory),
        )  # fmt: skip
    ids = sorted(memory.id for memory in targets)
    receipt = _receipt(stores, view, gone, messages, request, now) if request.receipt else {}
    return ForgetOutcome(ids, receipt), gone


def _source_sessions(stores: Stores, view: Viewpoint, gone: Sequence[Memory]) -> list[Session]:
    """Return the conversations from which the erased memories were learned."""
    places = {(row.session_id, row.bot_id) for row in gone if row.source_message_ids}
    return [
        session
        for session_id, bot_id in sorted(places)
        for session in stores.sessions.find(view.owner, session_id=session_id, bot_id=bot_id)
    ]


def _add_key_tombstone(stores: Stores, view: Viewpoint, request: ForgetRequest, now: float) -> None:
    """Store a tombstone for a profile key that has no memory yet, so that none is learned."""
    assert request.type is not None, "checked by the caller"
    placeholder = Draft(type=request.type, key=request.key or "", content="")
    marks = tombstone_digests(stores.tombstones.secret(), view.owner, placeholder)
    stores.tombstones.add(home_of(view.owner, placeholder), marks, now)


def _targets(stores: Stores, view: Viewpoint, request: ForgetRequest) -> list[Memory]:
    if request.memory_ids:
        return [visible_memory(stores, view, memory_id) for memory_id in set(request.memory_ids)]
    assert request.type is not None, "checked at the door"
    wanted = MemoryFilter(
        types={request.type},
        key=request.key,
        bot_id=None if view.all_bots else view.bot_id,
        only_app=view.only_app or None,
    )
    return stores.memories.find(view.owner, wanted)


def _with_versions(stores: Stores, view: Viewpoint, chosen: Sequence[Memory]) -> list[Memory]:
    """Return the chosen rows with all their versions, and all rows with the same value."""
    if not chosen:
        return []
    roots = MemoryFilter(root_ids={memory.root_id for memory in chosen})
    versions = {memory.id: memory for memory in stores.memories.find(view.owner, roots)}
    for memory in chosen:
        same_key = MemoryFilter(types={memory.type}, key=memory.key, bot_id=memory.bot_id)
        for other in stores.memories.find(view.owner, same_key):
            if comparable_value(other) == comparable_value(memory):
                versions[other.id] = other
    return list(versions.values())


def _derived_summaries(
    stores: Stores, view: Viewpoint, message_ids: Collection[int], targets: Sequence[Memory]
) -> list[Memory]:
    """Return the summaries made from the same messages: they may repeat the forgotten text."""
    if not message_ids:
        return []
    wanted = MemoryFilter(types={MemoryType.SUMMARY}, source_message_ids=message_ids)
    known = {memory.id for memory in targets}
    return [row for row in stores.memories.find(view.owner, wanted) if row.id not in known]


def _forget_messages(
    stores: Stores,
    view: Viewpoint,
    message_ids: Collection[int],
    request: ForgetRequest,
    now: float,
) -> Mapping[str, int]:
    if not message_ids:
        return {"hidden": 0, "erased": 0}
    # Messages pruned by retention may still have a copy in the archive.
    here = {row.id for row in stores.messages.find(view.owner, MessageFilter(ids=message_ids))}
    stores.messages.record_erased(view.owner, set(message_ids) - here, now)
    if request.include_messages:
        erased = stores.messages.erase(view.owner, MessageFilter(ids=message_ids), now)
        return {"hidden": 0, "erased": len(erased)}
    return {"hidden": stores.messages.hide(view.owner, message_ids, now), "erased": 0}


def _receipt(
    stores: Stores,
    view: Viewpoint,
    gone: Sequence[Memory],
    messages: Mapping[str, int],
    request: ForgetRequest,
    now: float,
) -> Mapping[str, Any]:
    """Check every place again, inside the same transaction, and return what remains."""
    ids = {memory.id for memory in gone}
    left = stores.memories.find(view.owner, MemoryFilter(ids=ids)) if ids else []
    terms = {term for memory in gone for term in query_terms(memory.content)}
    found = stores.memory_search.search(view, sorted(terms), 1000, now).memories if terms else ()
    slots = [slot for slot in stores.slots.all(view) if ids & _memory_ids_in(slot.provenance)]
    goals = stores.goals.find(view.owner, None)
    links = [link for goal in goals for link in goal.links if link.memory_id in ids]
    return {
        "erased": {
            "rows": len(ids),
            "summaries": sum(memory.type is MemoryType.SUMMARY for memory in gone),
            "messages": messages["erased"],
        },
        "hidden": {"messages": messages["hidden"]},
        "never_again": request.never_again,
        "remaining": {
            "rows": len(left),
            "text_index": sum(memory.id in ids for memory in found),
            "slots": len(slots),
            "goal_links": len(links),
        },
        "elsewhere": ["hidden messages stay readable by their owner until purged or past retention"]
        * bool(messages["hidden"])
        + ["backup files made earlier; restoring one replays this forget"],
    }


def _memory_ids_in(provenance: Mapping[str, Any]) -> set[int]:
    return set(provenance.get("active_memory_ids", ()))
