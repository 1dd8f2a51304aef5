"""Bring back what bears on a message: never waits for a model, never fails a reply."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zoneinfo import ZoneInfo

from plastic_memories.formats.card_macros import MacroNames, fill_memory_macros
from plastic_memories.formats.page_lines import bare_text, statement_of
from plastic_memories.hub.pages.read_pages import PageReader, PersonaPages
from plastic_memories.hub.personas.personas import Personas
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
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import User
from plastic_memories.model.persona import UserSettings
from plastic_memories.model.recall import (
    Findings,
    Hit,
    RecallQuery,
    Recollection,
    StableBlock,
)
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.recall_engine import RecallEngine, SnapshotEngine
from plastic_memories.ports.storage import Stores
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
from plastic_memories.rules.prompt.page_block import page_block
from plastic_memories.rules.ranking.explanation import PromptContents, explain_results
from plastic_memories.runtime.recall_counts import RecallCountBuffer

logger = logging.getLogger(__name__)
_PROFILE_ROWS = 20
# The blocks are made from a little more time than the searches get.
_GRACE_S = 0.05
# The share of the deadline in which everything is tried on one thread, before each part is
# tried by itself.
_SNAPSHOT_SHARE = 0.5
# So many characters are written into blocks at once; more are written on a thread, beside which
# the requests of others go on.
_AT_ONCE_CHARS = 40_000
# What the user's own pages may take of one prompt: half, so that memories have room beside them.
_PAGE_BUDGET_DIVISOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Defaults of the installation."""

    budget_tokens: int = 1000
    core_budget_tokens: int = 2000
    page_budget_tokens: int = 1000


@dataclass(frozen=True, slots=True)
class _CoreContext:
    """What is recalled whatever the question is."""

    profile: str = ""
    core: Sequence[Memory] = ()
    lines: BranchAncestry = field(default_factory=BranchAncestry)
    pages: PersonaPages = field(default_factory=PersonaPages)
    settings: UserSettings = field(default_factory=lambda: UserSettings(user=User("", "")))
    names: MacroNames = field(default_factory=MacroNames)


@dataclass(frozen=True, slots=True)
class _Parts:
    """All that one answer is made of."""

    query: RecallQuery
    structure: _CoreContext
    found: Findings
    talk: ConversationSnippets

    @property
    def length(self) -> int:
        """How many characters there are to write."""
        memories = [*self.structure.core, *(hit.memory for hit in self.found.hits)]
        texts = [row.content for row in memories] + [row.content for row in self.talk.all]
        return sum(map(len, [*texts, *(line.raw for line in self.structure.pages.core)]))

    def without_what_can_wait(self) -> _Parts:
        core = [row for row in self.structure.core if section_of(row) <= BlockSection.IDENTITY]
        structure = replace(self.structure, core=core, pages=PersonaPages())
        return _Parts(self.query, structure, replace(self.found, hits=()), ConversationSnippets())


@dataclass(frozen=True, slots=True)
class _StableBlock:
    """What stands in a prompt whatever the question is."""

    stable: StableBlock
    text: str  # as much of it as the caller's budget holds
    rows: Sequence[Memory]  # whose lines those are
    pages: str
    duplicates: Mapping[int, int]  # rows without a line of their own, and whose line says the same
    truncated: bool


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
    # The engine again, if it can search inside a snapshot. Decided when the hub is built: to
    # compare an object with a protocol takes as long as many a search.
    snapshot_engine: SnapshotEngine | None

    async def __call__(
        self, query: RecallQuery, include: Collection[str] = ("profile", "memory", "snippets")
    ) -> Recollection:
        """Answer from whatever is finished by the deadline; name what is not."""
        ends_at = time.monotonic() + query.deadline_s
        done, late = await self._gather_parts(query, include)
        structure: _CoreContext = done.get("structure", _CoreContext())
        found: Findings = done.get("search") or Findings((), detect_intent(query.text))
        hits = [
            _with_speaker_name(hit, structure.names)
            for hit in structure.lines.visible_hits(found.hits)
        ]
        misses = structure.lines.visible_near_misses(found.near_misses, hits)
        found = replace(found, hits=hits, near_misses=misses)
        structure = replace(structure, pages=done.get("pages", PersonaPages()))
        talk = _on_branch_line(done.get("snippets", ConversationSnippets()), structure.lines)
        parts = _Parts(query, structure, found, talk)
        recollection, unwritten = await self._compose_in_time(parts, ends_at)
        self.recall_counts.add([hit.memory for hit in recollection.hits], query.now)
        degraded = (*late, *found.degraded, *unwritten)
        logger.info("memory.recall", extra={"fields": _log_fields(query, recollection, degraded)})
        return replace(recollection, degraded=degraded)

    async def _gather_parts(
        self, query: RecallQuery, include: Collection[str]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the parts by name, and the names of those that did not come in time."""
        started = time.monotonic()
        engine, storage = self.snapshot_engine, self.storage.backend
        works: dict[str, SnapshotWork] = {"structure": self._load_core}
        if "snippets" in include:
            works["snippets"] = self.snippets.find_snippets
        done: dict[str, Any] = {}
        searched = "memory" in include
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
            rest["pages"] = self.pages.for_recall(query.viewpoint)
        if searched and "search" not in done:
            rest["search"] = self._search(query, started + query.deadline_s)
        more, late = await gather_until(rest, left_s + _GRACE_S)
        return done | more, late

    async def _search(self, query: RecallQuery, ends_at: float) -> Findings:
        """Let the engine search by itself; whatever engine it is, it is told the realm."""
        if query.realm_of_session:
            query = await self.storage.read(lambda stores: with_session_realm(stores, query))
        left_s = max(0.0, ends_at - time.monotonic())
        return await self.engine.find(replace(query, deadline_s=left_s))

    def _load_core(self, stores: Stores, query: RecallQuery) -> _CoreContext:
        known = self.personas.reader_context(stores, query.viewpoint, query.now)
        profile = self.personas.profile_for(stores, known, query.now, _PROFILE_ROWS)
        core = [fill_memory_macros(memory, known.names) for memory in known.core]
        return _CoreContext(profile, core, known.lines, settings=known.settings, names=known.names)

    async def _compose_in_time(
        self, parts: _Parts, ends_at: float
    ) -> tuple[Recollection, tuple[str, ...]]:
        """Write the blocks within the deadline; name them if there was no time for all of them.

        What must always be respected, and who the user is, are written however late it is.
        """
        if parts.length <= _AT_ONCE_CHARS:
            return self._compose(parts), ()
        left_s = max(_GRACE_S, ends_at - time.monotonic())
        work = asyncio.to_thread(self._compose, parts)
        done, late = await gather_until({"blocks": work}, left_s)
        if not late:
            return done["blocks"], ()
        bare = await asyncio.to_thread(self._compose, parts.without_what_can_wait())
        hits, _ = _with_core(parts.found.hits, parts.structure.core, parts.query.limit)
        return replace(bare, hits=hits, snippets=parts.talk.all, truncated=True), late

    def _compose(self, parts: _Parts) -> Recollection:
        query, structure, found, talk = parts.query, parts.structure, parts.found, parts.talk
        budget = query.budget_tokens or self.options.budget_tokens
        style = _style(structure)
        core = core_order(structure.core)
        told = self._stable_block(structure, core, style, budget)
        new, same, on_pages = _new_hits(found.hits, told, style)
        turn = turn_block(
            new,
            (talk.relevant, talk.recent),
            _turn_style(style, query, structure, new, talk),
            budget - estimate_tokens(told.text),
        )
        hits, without_place = _with_core(found.hits, core, query.limit)
        shown = {row.id for row in told.rows} | turn.memory_ids
        prompted = PromptContents(shown, {**told.duplicates, **same}, on_pages)
        return Recollection(
            profile_markdown=structure.profile,
            hits=hits,
            snippets=talk.all,
            injection_block="\n".join(part for part in (told.text, turn.text) if part),
            stable_block=told.stable,
            turn_block=turn.text,
            turn_tokens=turn.tokens,
            intent=found.intent,
            # Part by part: never less than the whole costs.
            tokens=estimate_tokens(told.text) + turn.tokens,
            truncated=turn.truncated or told.truncated,
            degraded=(),
            explain=explain_results(hits, without_place, found.near_misses, prompted)
            if query.explain
            else None,
        )

    def _stable_block(
        self, structure: _CoreContext, ordered: Sequence[Memory], style: BlockStyle, budget: int
    ) -> _StableBlock:
        """Write what stands in the prompt whatever the question is."""
        twins = duplicate_memories(ordered, style)
        unlike = [row for row in ordered if row.id not in twins]
        core, cut = fit_core_to_budget(unlike, self.options.core_budget_tokens, style)
        pages, cut_pages = _page_block(structure, core, self.options.page_budget_tokens)
        stable = stable_block(core, style, pages)
        # The stable block owes nothing to the caller's budget; what goes into one prompt does.
        prompt_pages, cut_pages_again = _page_block(
            structure, core, min(self.options.page_budget_tokens, budget // _PAGE_BUDGET_DIVISOR)
        )
        room = budget - estimate_tokens(prompt_pages)
        within, cut_again = fit_core_to_budget(unlike, room, style)
        is_whole = (within, prompt_pages) == (core, pages)
        text = stable.text if is_whole else stable_block(within, style, prompt_pages).text
        truncated = any((cut, cut_again, cut_pages, cut_pages_again))
        return _StableBlock(stable, text, within, prompt_pages, twins, truncated)


async def _with_snapshot_search(
    works: Mapping[str, SnapshotWork], engine: SnapshotEngine, query: RecallQuery
) -> Mapping[str, SnapshotWork]:
    # The search last: where a large index is read for the first time, the rest is there by then.
    search = await engine.prepare(query)
    return {**works, "search": lambda stores, asked: search(stores, asked.viewpoint)}


async def _unchanged_works(works: Mapping[str, SnapshotWork]) -> Mapping[str, SnapshotWork]:
    return works


def _page_block(structure: _CoreContext, core: Sequence[Memory], budget: int) -> tuple[str, bool]:
    looked = structure.pages
    if not looked.core and not looked.index:
        return "", False
    told = {statement_of(memory.content) for memory in core}
    lines = looked.core_lines(told)
    return page_block(lines, looked.index, structure.settings.language, budget)


def _new_hits(
    hits: Sequence[Hit], told: _StableBlock, style: BlockStyle
) -> tuple[list[Hit], Mapping[int, int], Collection[int]]:
    """Return the hits that tell something new; which repeat what row, and which a page says."""
    on_pages = _hits_on_pages(hits, told.pages)
    known = {row.id for row in told.rows} | on_pages
    new = [hit for hit in hits if hit.memory.id not in known]
    same = duplicate_memories([*told.rows, *(hit.memory for hit in new)], style)
    return [hit for hit in new if hit.memory.id not in same], same, on_pages


def _hits_on_pages(hits: Sequence[Hit], pages: str) -> set[int]:
    """Return which hits a line of the pages says already."""
    if not pages:
        return set()
    said = {bare_text(line) for line in pages.splitlines()}
    return {hit.memory.id for hit in hits if statement_of(hit.memory.content) in said}


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
    """Choose the language of a turn: that of the stable block; without one, that of its lines."""
    if structure.settings.language or structure.core:
        return style
    lines = [*(hit.memory.content for hit in hits), *(row.content for row in talk.all)]
    return style_for("", style.zone, lines or [query.text])


def _with_core(
    hits: Sequence[Hit], core: Sequence[Memory], limit: int
) -> tuple[list[Hit], Sequence[Hit]]:
    """Return the rows of an answer, and the hits that have no place among them.

    Constraints and identity that no search found come last. Half of the places and the very
    first belong to what was found: a caller who asks for one row wants the answer to the
    question, and finds the constraints in the stable block.
    """
    found = {hit.memory.id for hit in hits}
    always = [
        Hit(memory, 0.0, {}, ("core",))
        for memory in core
        if section_of(memory) <= BlockSection.IDENTITY and memory.id not in found
    ]
    room = max(limit - len(always), (limit + 1) // 2)
    return [*hits[:room], *always][:limit], hits[room:limit]


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


def _on_branch_line(talk: ConversationSnippets, lines: BranchAncestry) -> ConversationSnippets:
    return ConversationSnippets(
        lines.visible_messages(talk.relevant), lines.visible_messages(talk.recent)
    )
