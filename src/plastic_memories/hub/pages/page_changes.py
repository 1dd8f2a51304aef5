"""Take in what a person has changed in a core page, and say how the page should be then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import NotFound, Rejected
from plastic_memories.formats.page_lines import Line, digest, joined, stated
from plastic_memories.formats.page_merge import Plan, plan, rewritten, with_section, words_for
from plastic_memories.hub.memories.review import Correction, confirm_in, correct_in, end_in
from plastic_memories.hub.memories.write import write_in
from plastic_memories.hub.pages.line_drafts import as_note
from plastic_memories.hub.pages.page_memories import rows_of
from plastic_memories.hub.pages.read_pages import hides
from plastic_memories.hub.transactions.audit_events import record
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import CORE_ID, KeptFolder
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import ConfirmRequest

PERSONA_CORE_ID = "memory://persona/core"
_LATER = "later"  # its draft is not made yet


@dataclass(frozen=True, slots=True)
class Synced:
    """What one round has done to one page and to the memories behind it."""

    page: str
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    revoked: tuple[int, ...] = ()
    conflicts: tuple[int, ...] = ()
    written: int = 0
    skipped: tuple[tuple[int, str], ...] = ()  # line (from 1), and why it was not taken in

    def then(self, later: Synced) -> Synced:
        """Return both rounds as one; what is skipped is skipped in each."""
        return Synced(
            self.page,
            self.added + later.added,
            self.changed + later.changed,
            self.revoked + later.revoked,
            self.conflicts + later.conflicts,
            self.written + later.written,
            later.skipped,
        )


@dataclass(frozen=True, slots=True)
class Round:
    """The memories after what a person changed was taken in, and the page that says so."""

    result: Synced
    text: str
    base: Mapping[int, str]
    audit_id: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """What has changed, and what it was compared with."""

    plan: Plan
    base: Mapping[int, str]
    rows: Mapping[int, Memory]


def planned(stores: Stores, kept: KeptFolder, lines: Sequence[Line], now: float) -> Planned:
    """Compare a page with what was last in step and with the memories now."""
    base = stores.pages.lines(kept.folder)
    anchors = {line.root for line in lines if line.root is not None}
    rows = rows_of(stores, kept, now, {*base, *anchors})
    hidden = hides(stores, kept.folder.user)
    muted = {number for number, line in enumerate(lines) if line.text and hidden(line.text)}
    texts = {root: stated(row.content) for root, row in rows.items()}
    return Planned(plan(lines, base, texts, muted), base, rows)


class Taking:
    """Takes in what a person has changed, in one transaction."""

    def __init__(
        self,
        stores: Stores,
        caller: Caller,
        kept: KeptFolder,
        lines: Sequence[Line],
        drafts: Mapping[str, Draft | str],
        now: float,
    ) -> None:
        self._stores, self._caller, self._kept, self._now = stores, caller, kept, now
        self._lines, self._drafts = lines, drafts
        self._planned = planned(stores, kept, lines, now)
        self._settled: dict[int, int] = {}
        self._skipped: dict[int, str] = {}
        self._new: dict[int, int] = {}  # line → memory id

    def done(self) -> Round:
        wanted = self._planned.plan
        revoked = [self._revoke(root) for root in wanted.removed]
        for number, root in wanted.edited.items():
            self._edit(number, self._planned.rows[root])
        for number in wanted.added:
            self._add(number)
        rows = self._rows()
        page, new = rewritten(self._lines, wanted, self._settled, rows, self._left())
        language = self._stores.personas.settings(self._kept.folder.user).language
        lines = with_section(page, new, words_for(language, list(new.values())))
        self._record(len(new))
        return Round(
            Synced(
                page=PERSONA_CORE_ID if self._kept.folder.persona_id else CORE_ID,
                added=tuple(self._new[number] for number in wanted.added if number in self._new),
                changed=tuple(self._new[n] for n in wanted.edited if n in self._new),
                revoked=tuple(revoked),
                conflicts=tuple(self._planned.rows[r].id for r in wanted.conflicts.values()),
                written=len(new),
                skipped=tuple((n + 1, why) for n, why in self._refused()),
            ),
            joined(lines),
            self._base(lines, rows),
            self._stores.pages.changed_since(self._kept.folder.user, 0),
            is_last=_LATER not in self._skipped.values(),
        )

    def _refused(self) -> list[tuple[int, str]]:
        return sorted((n, why) for n, why in self._skipped.items() if why != _LATER)

    def _left(self) -> set[int]:
        return {number for number in self._skipped if number in self._planned.plan.edited}

    def _revoke(self, root: int) -> int:
        memory = self._planned.rows[root]
        return end_in(self._stores, self._caller, memory, "memory.revoke", self._now).id

    def _edit(self, number: int, memory: Memory) -> None:
        draft = self._drafts.get(self._lines[number].text, _LATER)
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        correction = Correction(content=draft.content, given={"content"})
        added = correct_in(self._stores, self._caller, memory, correction, self._now)
        if added.status is Status.CANDIDATE:
            # The line in the user's own hand is the yes that a slot waits for.
            yes = ConfirmRequest(supersedes_id=memory.id)
            added = confirm_in(self._stores, self._caller, added, yes, self._now)
        self._settled[number], self._new[number] = added.root_id, added.id

    def _add(self, number: int) -> None:
        draft = self._drafts.get(self._lines[number].text, _LATER)
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        owner = replace(self._kept.folder, persona_id=self._kept.kept_for)
        if self._would_end_a_line(owner, draft):
            draft = as_note(draft)
        try:
            done = write_in(self._stores, self._caller, owner, draft, self._now)
        except (NotFound, Rejected) as error:
            self._skipped[number] = error.message
            return
        if done.memory is not None:
            self._settled[number], self._new[number] = done.memory.root_id, done.memory.id

    def _would_end_a_line(self, owner: Owner, draft: Draft) -> bool:
        """Say whether a line would replace the memory of another line that the person has left."""
        plan = self._planned.plan
        there = {*plan.held.values(), *plan.conflicts.values(), *self._settled.values()}
        rivals = self._stores.memories.same_place(owner, draft)
        return any(
            row.status is Status.ACTIVE and row.root_id in there and row.content != draft.content
            for row in rivals
        )

    def _rows(self) -> dict[int, str]:
        known = {*self._planned.base, *self._planned.plan.held.values(), *self._settled.values()}
        rows = rows_of(self._stores, self._kept, self._now, known)
        return {root: text for root, row in rows.items() if (text := stated(row.content))}

    def _base(self, lines: Sequence[Line], rows: Mapping[int, str]) -> dict[int, str]:
        base = {
            line.root: digest(line.text)
            for line in lines
            if line.root is not None and rows.get(line.root) == line.text
        }
        # A line that could not be stored still differs from what was last in step.
        kept = {self._planned.plan.edited[number] for number in self._left()}
        return base | {root: self._planned.base[root] for root in kept}

    def _record(self, written: int) -> None:
        if written or self._new or self._planned.plan.removed:
            folder = self._kept.folder
            record(self._stores, self._caller, "pages.sync", folder.persona_id, self._now)
