"""Recall what is relevant to a message; never waits for a model, never fails a reply."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo

from plastic_memories.formats.card_macros import MacroNames, fill_memory_macros
from plastic_memories.formats.pages.page_lines import bare_text, statement_of
from plastic_memories.hub.pages.read_pages import PageReader, PersonaPages
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.hub.recall.intent_rows import rows_for_intent, with_intent_rows
from plastic_memories.hub.recall.quote_corrections import find_corrections, visible_corrections
from plastic_memories.hub.recall.snapshot_parts import (
    SnapshotWork,
    gather_until,
    in_one_snapshot,
    in_own_snapshot,
    with_session_realm,
)
from plastic_memories.hub.recall.snippets import ConversationSnippets, SnippetFinder
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.language.questions.intent import detect_intent
from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.entry import Listener
from plastic_memories.model.memory import Memory
from plastic_memories.model.message import Message, MessageCorrection
from plastic_memories.model.owner import User
from plastic_memories.model.page import CORE_NAME
from plastic_memories.model.persona import UserSettings
from plastic_memories.model.recall import (
    Findings,
    Hit,
    NearMiss,
    RecallQuery,
    Recollection,
    StableBlock,
)
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.recall_engine import RecallEngine, SnapshotEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.audience import may_be_retold
from plastic_memories.rules.conversation.branch_lines import BranchAncestry
from plastic_memories.rules.prompt.blocks import (
    BlockSection,
    BlockStyle,
    core_order,
    duplicate_memories,
    fit_core_to_budget,
    section_of,
    stable_block,
    style_for,
    turn_block,
)
from plastic_memories.rules.prompt.page_block import PageBlock, page_block, turn_pages
from plastic_memories.rules.ranking.explanation import (
    PromptContents,
    explain_results,
    explain_utterances,
)
from plastic_memories.runtime.recall_counts import RecallCountBuffer

logger = logging.getLogger(__name__)
_Found = TypeVar("_Found", Hit, NearMiss)
_PROFILE_ROWS = 20
# Extra time, beyond the deadline of the searches, to build the blocks.
_GRACE_S = 0.05
# The share of the deadline in which all parts run on one thread, before each missing part runs
# by itself.
_SNAPSHOT_SHARE = 0.5
# Up to this many characters the blocks are built on the event loop; above it on a thread, so
# that other requests are not blocked.
_AT_ONCE_CHARS = 40_000
# The user's pages take at most half of one prompt, so that memories have room beside them.
_PAGE_BUDGET_DIVISOR = 2
# The share of the deadline after which the pages are no longer searched: then the core still is
# in time.
_PAGE_SEARCH_SHARE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Defaults of the installation."""

    budget_tokens: int = 1000
    core_budget_tokens: int = 2000
    page_budget_tokens: int = 1000


@dataclass(frozen=True, slots=True)
class _CoreContext:
    """The part of an answer that does not depend on the question."""

    profile: str = ""
    core: Sequence[Memory] = ()
    asked: Sequence[Memory] = ()  # rows of the kind that the question asks for
    lines: BranchAncestry = field(default_factory=BranchAncestry)
    pages: PersonaPages = field(default_factory=PersonaPages)
    settings: UserSettings = field(default_factory=lambda: UserSettings(user=User("", "")))
    names: MacroNames = field(default_factory=MacroNames)
    listener: Listener | None = None  # None if it could not be read in time


@dataclass(frozen=True, slots=True)
class _Parts:
    """The inputs of one answer."""

    query: RecallQuery
    structure: _CoreContext
    found: Findings
    talk: ConversationSnippets
    corrections: Mapping[int, Sequence[Message]] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Return how many characters go into the blocks."""
        memories = [*self.structure.core, *(hit.memory for hit in self.found.hits)]
        texts = [row.content for row in memories] + [row.content for row in self.talk.all]
        return sum(map(len, [*texts, *(line.raw for line in self.structure.pages.core)]))

    def without_what_can_wait(self) -> _Parts:
        core = [row for row in self.structure.core if section_of(row) <= BlockSection.IDENTITY]
        structure = replace(self.structure, core=core, pages=PersonaPages())
        return _Parts(self.query, structure, replace(self.found, hits=()), ConversationSnippets())


@dataclass(frozen=True, slots=True)
class _StableBlock:
    """The stable block, and the part of it that fits into this prompt."""

    stable: StableBlock
    text: str  # as much of it as fits into the caller's budget
    rows: Sequence[Memory]  # the memories in that text
    pages: PageBlock
    page_tokens_left: int
    duplicates: Mapping[int, int]  # rows without a line of their own → the row with the same line
    truncated: bool
    core_page_is_cut: bool


def _snapshot_engine(engine: RecallEngine) -> SnapshotEngine | None:
    """Return the engine if it can search inside a snapshot."""
    return cast("SnapshotEngine", engine) if _reads_snapshots(type(engine)) else None


@lru_cache
def _reads_snapshots(kind: type) -> bool:
    # Cached: to compare a class with a protocol takes as long as many a search.
    return issubclass(kind, SnapshotEngine)


@dataclass(frozen=True, slots=True)
class Recall:
    storage: AuditedStorage
    engine: RecallEngine
    personas: Personas
    options: RecallOptions
    snippets: SnippetFinder
    recall_counts: RecallCountBuffer
    meter: Meter
    pages: PageReader

    async def __call__(
        self, query: RecallQuery, include: Collection[str] = ("profile", "memory", "snippets")
    ) -> Recollection:
        """Answer from the parts that finish by the deadline; name the others in `degraded`."""
        ends_at = time.monotonic() + query.deadline_s
        done, late = await self._gather_parts(query, include)
        structure: _CoreContext = done.get("structure", _CoreContext())
        found: Findings = done.get("search") or Findings((), detect_intent(query.text))
        ranked = found.hits
        if "memory" in include:
            ranked = with_intent_rows(ranked, structure.asked, query.now)[: query.limit]
        hits = [
            _with_speaker_name(hit, structure.names)
            for hit in structure.lines.visible_hits(_of_types(ranked, query))
            if structure.listener is None or may_be_retold(hit.memory, structure.listener)
        ]
        near_misses = _of_types(found.near_misses, query)
        misses = structure.lines.visible_near_misses(near_misses, hits)
        said = structure.lines.visible_utterances(found.utterances)
        found = replace(found, hits=hits, near_misses=misses, utterances=said)
        structure = replace(structure, pages=done.get("pages", PersonaPages()))
        recent, corrected = done.get("snippets", ((), ()))
        talk = self._choose_snippets(query, structure, found, recent)
        corrections = visible_corrections(corrected, query, structure.lines, structure.listener)
        parts = _Parts(query, structure, found, talk, corrections)
        recollection, unwritten = await self._compose_in_time(parts, ends_at)
        # Who asks why looks at the memories, and does not use them.
        if not query.explain:
            self.recall_counts.add([hit.memory for hit in recollection.hits], query.now)
        unsearched = () if structure.pages.found.is_complete else ("pages",)
        degraded = (*late, *found.degraded, *unsearched, *unwritten)
        logger.info("memory.recall", extra={"fields": _log_fields(query, recollection, degraded)})
        return replace(recollection, degraded=degraded)

    async def _gather_parts(
        self, query: RecallQuery, include: Collection[str]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the parts by name, and the names of the parts that missed the deadline."""
        started = time.monotonic()
        engine, storage = _snapshot_engine(self.engine), self.storage.backend
        works: dict[str, SnapshotWork] = {"structure": self._load_core}
        if "snippets" in include:
            works["snippets"] = self._find_talk
        done: dict[str, Any] = {}
        query = self._what_to_search(query, include)
        searched = query.types != frozenset() or query.quote_limit > 0
        if engine is not None and engine.is_backed_by(storage):
            prepared = (
                _with_snapshot_search(works, engine, query) if searched else _unchanged_works(works)
            )
            patience_s = query.deadline_s * _SNAPSHOT_SHARE
            done = await in_one_snapshot(self.storage, query, prepared, patience_s)
        left_s = max(0.0, query.deadline_s - (time.monotonic() - started))
        rest: dict[str, Awaitable[Any]] = {
            name: in_own_snapshot(self.storage, query, work)
            for name, work in works.items()
            if name not in done
        }
        if self.pages.may_have_pages(query.viewpoint):
            search_ends_at = started + query.deadline_s * _PAGE_SEARCH_SHARE
            rest["pages"] = self.pages.for_recall(query, search_ends_at)
        if searched and "search" not in done:
            rest["search"] = self._search(query, started + query.deadline_s)
        more, late = await gather_until(rest, left_s + _GRACE_S)
        return done | more, late

    def _find_talk(
        self, stores: Stores, query: RecallQuery
    ) -> tuple[Sequence[Message], Sequence[MessageCorrection]]:
        return self.snippets.find_recent(stores, query), find_corrections(stores, query)

    def _what_to_search(self, query: RecallQuery, include: Collection[str]) -> RecallQuery:
        """Return the query for the engine: memories, messages, or both."""
        quotes = query.quotes_messages and "snippets" in include
        types = query.types if "memory" in include else frozenset()
        return replace(query, types=types, quote_limit=self.snippets.limit if quotes else 0)

    def _choose_snippets(
        self,
        query: RecallQuery,
        structure: _CoreContext,
        found: Findings,
        recent: Sequence[Message],
    ) -> ConversationSnippets:
        told = [*structure.core, *(hit.memory for hit in found.hits)]
        latest = structure.lines.visible_messages(recent)
        return self.snippets.choose(query, found.utterances, latest, told)

    async def _search(self, query: RecallQuery, ends_at: float) -> Findings:
        """Run the engine outside a snapshot, with the realm of the session resolved."""
        if query.realm_of_session:
            query = await self.storage.read(lambda stores: with_session_realm(stores, query))
        left_s = max(0.0, ends_at - time.monotonic())
        return await self.engine.find(replace(query, deadline_s=left_s))

    def _load_core(self, stores: Stores, query: RecallQuery) -> _CoreContext:
        known = self.personas.reader_context(stores, query.viewpoint, query.now)
        profile = self.personas.profile_for(stores, known, query.now, _PROFILE_ROWS)
        core = [fill_memory_macros(memory, known.names) for memory in known.core]
        asked = rows_for_intent(stores, query) if query.text.strip() else ()
        return _CoreContext(
            profile,
            core,
            asked,
            known.lines,
            settings=known.settings,
            names=known.names,
            listener=stores.message_search.listener(query.viewpoint),
        )

    async def _compose_in_time(
        self, parts: _Parts, ends_at: float
    ) -> tuple[Recollection, tuple[str, ...]]:
        """Build the blocks within the deadline; name them as late if there was no time for all.

        Constraints and identity are written however late it is.
        """
        if parts.length <= _AT_ONCE_CHARS:
            return self._compose(parts), ()
        left_s = max(_GRACE_S, ends_at - time.monotonic())
        work = asyncio.to_thread(self._compose, parts)
        done, late = await gather_until({"blocks": work}, left_s)
        if not late:
            return done["blocks"], ()
        essential = await asyncio.to_thread(self._compose, parts.without_what_can_wait())
        hits, _ = _with_core(parts.found.hits, parts.structure.core, parts.query)
        return replace(essential, hits=hits, snippets=parts.talk.all, truncated=True), late

    def _compose(self, parts: _Parts) -> Recollection:
        query, structure, found, talk = parts.query, parts.structure, parts.found, parts.talk
        budget = query.budget_tokens or self.options.budget_tokens
        style = _style(structure)
        core = core_order(structure.core)
        stable = self._stable_block(structure, core, style, budget)
        new, duplicates, on_pages = _new_hits(found.hits, stable, style)
        turn_style = _turn_style(style, query, structure, new, talk)
        turn_style = replace(turn_style, corrections=parts.corrections)
        room = budget - estimate_tokens(stable.text)
        page_room = min(stable.page_tokens_left, room // _PAGE_BUDGET_DIVISOR)
        said = [*stable.rows, *(hit.memory for hit in new)]
        pages, cut_pages = _turn_pages(structure.pages, stable, said, turn_style, page_room)
        turn = turn_block(new, talk.relevant, talk.recent, turn_style, room, pages)
        hits, without_place = _with_core(found.hits, core, query)
        shown = {row.id for row in stable.rows} | turn.memory_ids
        prompted = PromptContents(shown, {**stable.duplicates, **duplicates}, on_pages)
        return Recollection(
            profile_markdown=structure.profile,
            hits=hits,
            snippets=talk.all,
            injection_block="\n".join(part for part in (stable.text, turn.text) if part),
            stable_block=stable.stable,
            turn_block=turn.text,
            turn_tokens=turn.tokens,
            intent=found.intent,
            # Summed part by part: never less than the whole costs.
            tokens=estimate_tokens(stable.text) + turn.tokens,
            truncated=turn.truncated or stable.truncated or cut_pages,
            degraded=(),
            cut=(CORE_NAME,) if stable.core_page_is_cut else (),
            explain=[
                *explain_results(hits, without_place, found.near_misses, prompted),
                *explain_utterances(found.utterances, talk.relevant, turn.message_ids),
            ]
            if query.explain
            else None,
        )

    def _stable_block(
        self, structure: _CoreContext, ordered: Sequence[Memory], style: BlockStyle, budget: int
    ) -> _StableBlock:
        """Build the part of the prompt that does not depend on the question."""
        duplicates = duplicate_memories(ordered, style)
        distinct = [row for row in ordered if row.id not in duplicates]
        core, cut = fit_core_to_budget(distinct, self.options.core_budget_tokens, style)
        pages = _page_block(structure, core, self.options.page_budget_tokens)
        stable = stable_block(core, style, pages.text)
        # The stable block ignores the caller's budget; the text of one prompt does not.
        page_budget = min(self.options.page_budget_tokens, budget // _PAGE_BUDGET_DIVISOR)
        prompt_pages = _page_block(structure, core, page_budget)
        page_tokens = estimate_tokens(prompt_pages.text)
        room = budget - page_tokens
        within, cut_again = fit_core_to_budget(distinct, room, style)
        is_whole = (within, prompt_pages) == (core, pages)
        text = stable.text if is_whole else stable_block(within, style, prompt_pages.text).text
        core_is_cut = pages.core_is_cut or not structure.pages.core_is_whole
        truncated = any(
            (cut, cut_again, core_is_cut, prompt_pages.core_is_cut, prompt_pages.index_is_cut)
        )
        return _StableBlock(
            stable=stable,
            text=text,
            rows=within,
            pages=prompt_pages,
            page_tokens_left=page_budget - page_tokens,
            duplicates=duplicates,
            truncated=truncated,
            core_page_is_cut=core_is_cut,
        )


async def _with_snapshot_search(
    works: Mapping[str, SnapshotWork], engine: SnapshotEngine, query: RecallQuery
) -> Mapping[str, SnapshotWork]:
    # The search goes last: if it reads a large index for the first time, the rest is done.
    search = await engine.prepare(query)
    return {**works, "search": lambda stores, placed: search(stores, placed.viewpoint)}


async def _unchanged_works(works: Mapping[str, SnapshotWork]) -> Mapping[str, SnapshotWork]:
    return works


def _page_block(structure: _CoreContext, core: Sequence[Memory], budget: int) -> PageBlock:
    persona_pages = structure.pages
    if not persona_pages.core and not persona_pages.index:
        return PageBlock()
    known = {statement_of(memory.content) for memory in core}
    lines = persona_pages.core_lines(known)
    return page_block(lines, persona_pages.index, structure.settings.language, budget)


def _turn_pages(
    pages: PersonaPages,
    stable: _StableBlock,
    said: Sequence[Memory],
    style: BlockStyle,
    budget: int,
) -> tuple[str, bool]:
    """Return the passages that bear on the question, the index if the stable block has none, and
    whether passages were cut.
    """
    if not pages.index:
        return "", False
    known = {statement_of(memory.content) for memory in said}
    passages = [
        replace(passage, lines=lines)
        for passage in pages.found.passages
        if (lines := tuple(line for line in passage.lines if bare_text(line) not in known))
    ]
    index = list(dict.fromkeys((*pages.found.pages, *pages.index)))
    shown_index = index if stable.pages.index_is_cut else []
    return turn_pages(passages, shown_index, style.words, budget)


def _new_hits(
    hits: Sequence[Hit], stable: _StableBlock, style: BlockStyle
) -> tuple[list[Hit], Mapping[int, int], Collection[int]]:
    """Return the new hits, the duplicates (id → id of the same line) and the ids on pages."""
    on_pages = _hits_on_pages(hits, stable.pages.text)
    known = {row.id for row in stable.rows} | on_pages
    new = [hit for hit in hits if hit.memory.id not in known]
    duplicates = duplicate_memories([*stable.rows, *(hit.memory for hit in new)], style)
    return [hit for hit in new if hit.memory.id not in duplicates], duplicates, on_pages


def _hits_on_pages(hits: Sequence[Hit], pages: str) -> set[int]:
    """Return the ids of the hits that a line of the pages already states."""
    if not pages:
        return set()
    statements = {bare_text(line) for line in pages.splitlines()}
    return {hit.memory.id for hit in hits if statement_of(hit.memory.content) in statements}


def _style(structure: _CoreContext) -> BlockStyle:
    settings = structure.settings
    texts = [memory.content for memory in structure.core] or [structure.profile]
    return style_for(settings.language, ZoneInfo(settings.time_zone), texts)


def _turn_style(
    style: BlockStyle,
    query: RecallQuery,
    structure: _CoreContext,
    hits: Sequence[Hit],
    talk: ConversationSnippets,
) -> BlockStyle:
    """Return the style of a turn: the stable block's, or without one that of the turn's lines."""
    if structure.settings.language or structure.core:
        return style
    lines = [*(hit.memory.content for hit in hits), *(row.content for row in talk.all)]
    return style_for("", style.zone, lines or [query.text])


def _with_core(
    hits: Sequence[Hit], core: Sequence[Memory], query: RecallQuery
) -> tuple[list[Hit], Sequence[Hit]]:
    """Return the rows of an answer, and the hits that do not fit.

    Constraints and identity that the search did not find come last. The hits get at least half
    of the places, and the first one: a caller who asks for one row wants the answer to the
    question, and finds the constraints in the stable block.
    """
    found = {hit.memory.id for hit in hits}
    always = [
        Hit(memory, 0.0, {}, ("core",))
        for memory in core
        if section_of(memory) <= BlockSection.IDENTITY and memory.id not in found
    ]
    always, limit = _of_types(always, query), query.limit
    room = max(limit - len(always), (limit + 1) // 2)
    return [*hits[:room], *always][:limit], hits[room:limit]


def _of_types(found: Sequence[_Found], query: RecallQuery) -> list[_Found]:
    """Return what is of the types of the query: not every engine looks at them."""
    if query.types is None:
        return list(found)
    return [one for one in found if one.memory.type in query.types]


def _log_fields(
    query: RecallQuery, answer: Recollection, degraded: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "persona_id": query.viewpoint.owner.persona_id,
        "found": len(answer.hits),
        "intent": answer.intent.type.value,
        "degraded": list(degraded),
    }


def _with_speaker_name(hit: Hit, names: MacroNames) -> Hit:
    memory = fill_memory_macros(hit.memory, names)
    return hit if memory is hit.memory else replace(hit, memory=memory)
