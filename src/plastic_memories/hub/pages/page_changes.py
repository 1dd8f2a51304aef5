"""Apply a person's edits of a core page to memories, and build the new text of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import NotFound, Rejected
from plastic_memories.formats.pages.page_lines import (
    PageLine,
    join_lines,
    statement_digest,
    statement_of,
)
from plastic_memories.formats.pages.page_merge import (
    PageMergePlan,
    append_to_section,
    page_headings_for,
    plan_page_merge,
    rewrite_page,
)
from plastic_memories.hub.memories.review import (
    Correction,
    confirm_in_transaction,
    correct_in_transaction,
    end_in_transaction,
)
from plastic_memories.hub.memories.write import write_in_transaction
from plastic_memories.hub.pages.line_drafts import as_note
from plastic_memories.hub.pages.page_memories import page_memories
from plastic_memories.hub.pages.read_pages import muted_line_test
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import CORE_ID, SyncedFolder
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions
from plastic_memories.rules.lifecycle.user_facts import with_user_scope

PERSONA_CORE_ID = "memory://persona/core"
_DRAFT_PENDING = "later"  # its draft is not made yet


@dataclass(frozen=True, slots=True)
class PageSyncOutcome:
    """The effects of one round on a page and its memories."""

    page: str
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    revoked: tuple[int, ...] = ()
    conflicts: tuple[int, ...] = ()
    written: int = 0
    skipped: tuple[tuple[int, str], ...] = ()  # line number (from 1), and why it was not imported

    def merged_with(self, later: PageSyncOutcome) -> PageSyncOutcome:
        """Return the outcome of both rounds; skipped lines recur, so the later ones count."""
        return PageSyncOutcome(
            self.page,
            self.added + later.added,
            self.changed + later.changed,
            self.revoked + later.revoked,
            self.conflicts + later.conflicts,
            self.written + later.written,
            later.skipped,
        )


@dataclass(frozen=True, slots=True)
class SyncRound:
    """The outcome of one round: new page text, new base of the diff, and audit cursor."""

    result: PageSyncOutcome
    text: str
    base: Mapping[int, str]
    audit_id: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class PageDiff:
    """The planned changes, and the base and memories they were computed from."""

    plan: PageMergePlan
    base: Mapping[int, str]
    rows: Mapping[int, Memory]


def page_diff(
    stores: Stores, synced: SyncedFolder, lines: Sequence[PageLine], now: float
) -> PageDiff:
    """Compare a page with the last synchronised state and with the current memories."""
    base = stores.pages.line_digests(synced.folder)
    anchors = {line.root for line in lines if line.root is not None}
    rows = page_memories(stores, synced, now, {*base, *anchors})
    hidden = muted_line_test(stores, synced.folder.user)
    muted = {number for number, line in enumerate(lines) if line.text and hidden(line.text)}
    texts = {root: statement_of(row.content) for root, row in rows.items()}
    return PageDiff(plan_page_merge(lines, base, texts, muted), base, rows)


class PageChangeApplier:
    """Applies a person's edits in one transaction."""

    def __init__(
        self,
        stores: Stores,
        caller: Caller,
        synced: SyncedFolder,
        lines: Sequence[PageLine],
        drafts: Mapping[str, Draft | str],
        now: float,
    ) -> None:
        self._stores, self._caller, self._synced, self._now = stores, caller, synced, now
        self._lines, self._drafts = lines, drafts
        self._planned = page_diff(stores, synced, lines, now)
        self._settled: dict[int, int] = {}
        self._skipped: dict[int, str] = {}
        self._new: dict[int, int] = {}  # line → memory id

    def apply(self) -> SyncRound:
        wanted = self._planned.plan
        revoked = [self._revoke(root) for root in wanted.removed]
        for number, root in wanted.edited.items():
            self._edit(number, self._planned.rows[root])
        for number in wanted.added:
            self._add(number)
        rows = self._row_texts()
        page, new = rewrite_page(self._lines, wanted, self._settled, rows, self._unapplied_edits())
        language = self._stores.personas.settings(self._synced.folder.user).language
        lines = append_to_section(page, new, page_headings_for(language, list(new.values())))
        self._record_sync(len(new))
        return SyncRound(
            PageSyncOutcome(
                page=PERSONA_CORE_ID if self._synced.folder.persona_id else CORE_ID,
                added=tuple(self._new[number] for number in wanted.added if number in self._new),
                changed=tuple(self._new[n] for n in wanted.edited if n in self._new),
                revoked=tuple(revoked),
                conflicts=tuple(self._planned.rows[r].id for r in wanted.conflicts.values()),
                written=len(new),
                skipped=tuple((n + 1, why) for n, why in self._skipped_lines()),
            ),
            join_lines(lines),
            self._line_digests(lines, rows),
            self._stores.pages.last_change_after(self._synced.folder.user, 0),
            is_last=_DRAFT_PENDING not in self._skipped.values(),
        )

    def _skipped_lines(self) -> list[tuple[int, str]]:
        return sorted((n, why) for n, why in self._skipped.items() if why != _DRAFT_PENDING)

    def _unapplied_edits(self) -> set[int]:
        return {number for number in self._skipped if number in self._planned.plan.edited}

    def _revoke(self, root: int) -> int:
        memory = self._planned.rows[root]
        return end_in_transaction(self._stores, self._caller, memory, "memory.revoke", self._now).id

    def _edit(self, number: int, memory: Memory) -> None:
        draft = self._drafts.get(self._lines[number].text, _DRAFT_PENDING)
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        correction = Correction(content=draft.content, changed_fields={"content"})
        added = correct_in_transaction(self._stores, self._caller, memory, correction, self._now)
        if added.status is Status.CANDIDATE:
            # The person's own edit counts as the confirmation that a slot needs.
            options = ConfirmOptions(supersedes_id=memory.id)
            added = confirm_in_transaction(self._stores, self._caller, added, options, self._now)
        self._settled[number], self._new[number] = added.root_id, added.id

    def _add(self, number: int) -> None:
        draft = self._drafts.get(self._lines[number].text, _DRAFT_PENDING)
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        owner = replace(self._synced.folder, persona_id=self._synced.target_persona_id)
        if self._replaces_other_line(owner, draft):
            draft = as_note(draft)
        try:
            outcome = write_in_transaction(self._stores, self._caller, owner, draft, self._now)
        except (NotFound, Rejected) as error:
            self._skipped[number] = error.message
            return
        if outcome.memory is not None:
            self._settled[number], self._new[number] = outcome.memory.root_id, outcome.memory.id

    def _replaces_other_line(self, owner: Owner, draft: Draft) -> bool:
        """Return whether a line would replace the memory of another line that is still there."""
        plan = self._planned.plan
        on_page = {*plan.root_by_line.values(), *plan.conflicts.values(), *self._settled.values()}
        rivals = self._stores.memories.find_same_key(owner, with_user_scope(draft))
        return any(
            row.status is Status.ACTIVE and row.root_id in on_page and row.content != draft.content
            for row in rivals
        )

    def _row_texts(self) -> dict[int, str]:
        known = {
            *self._planned.base,
            *self._planned.plan.root_by_line.values(),
            *self._settled.values(),
        }
        rows = page_memories(self._stores, self._synced, self._now, known)
        return {root: text for root, row in rows.items() if (text := statement_of(row.content))}

    def _line_digests(self, lines: Sequence[PageLine], rows: Mapping[int, str]) -> dict[int, str]:
        base = {
            line.root: statement_digest(line.text)
            for line in lines
            if line.root is not None and rows.get(line.root) == line.text
        }
        # A line that could not be stored still differs from the last synchronised state.
        unapplied = {self._planned.plan.edited[number] for number in self._unapplied_edits()}
        return base | {root: self._planned.base[root] for root in unapplied}

    def _record_sync(self, written: int) -> None:
        if written or self._new or self._planned.plan.removed:
            folder = self._synced.folder
            record_event(self._stores, self._caller, "pages.sync", folder.persona_id, self._now)
