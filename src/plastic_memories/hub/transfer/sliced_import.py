"""Import an export in many short transactions, so that other writers need not wait."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial

from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.formats.import_index import ImportIndex
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import active_in_slot, refresh_slot
from plastic_memories.hub.transfer.import_lines import ImportSlice, ImportTerms
from plastic_memories.hub.transfer.import_progress import ImportProgress, ImportReport
from plastic_memories.hub.transfer.import_record import record_rows
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.persona import Slot
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.slot_values import build_slot
from plastic_memories.runtime.pacing import sleep_proportionally

logger = logging.getLogger(__name__)
# Between two slices others may write for this share of the time that the last one took.
_REST = 0.5
_LOG_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class SlicedImport:
    """One import. It may fail between two slices: to repeat it adds what is missing, only once."""

    storage: AuditedStorage
    terms: ImportTerms

    async def run(self, index: ImportIndex) -> ImportReport:
        progress = ImportProgress(skipped=list(index.skipped))
        done, total = 0, len(index.lines)
        logged_at = time.monotonic()
        try:
            while done < total:
                started = time.monotonic()
                done = await self._run_slice(index, done, progress)
                if started - logged_at > _LOG_EVERY_S:
                    logged_at = started
                    self._log("import.progress", progress, done, total)
                await sleep_proportionally(started, _REST)
            await self._refresh_slots(progress)
        except PlasticMemoriesError:
            self._log("import.interrupted", progress, done, total)
            raise
        self._log("import.done", progress, done, total)
        return progress.report(is_trusted=self.terms.is_trusted, import_id=self.terms.import_id)

    async def _run_slice(self, index: ImportIndex, start: int, progress: ImportProgress) -> int:
        def work(stores: Stores) -> tuple[int, ImportProgress]:
            child = progress.child()
            done = ImportSlice(stores, self.terms, child).run(index.lines, start)
            if self.terms.import_id is not None:
                record_rows(
                    stores, self.terms.caller, self.terms.import_id, child.added, self.terms.now
                )
            return done, child

        if self.terms.dry_run:
            done, child = await self.storage.read(work)
        else:
            done, child = await self.storage.write(work)
        progress.merge(child)
        return done

    async def _refresh_slots(self, progress: ImportProgress) -> None:
        """Rebuild the slots that got rows, by this import or by one that was interrupted."""
        if self.terms.dry_run:
            return
        for memory in progress.slots.values():
            if not await self.storage.read(partial(_is_current, memory=memory)):
                await self.storage.write(
                    partial(
                        refresh_slot,
                        caller=self.terms.caller,
                        memory=memory,
                        now=self.terms.now,
                    )
                )

    def _log(self, event: str, progress: ImportProgress, done: int, total: int) -> None:
        fields = {
            "user_id": self.terms.caller.user.user_id,
            "dry_run": self.terms.dry_run,
            "done": done,
            "total": total,
            "counts": dict(progress.counts),
        }
        logger.info(event, extra={"fields": fields})


def _is_current(stores: Stores, memory: Memory) -> bool:
    """Return whether the stored slot of a memory has exactly its active rows."""
    built = build_slot(active_in_slot(stores, memory), 0.0)
    view = Viewpoint(memory.owner, memory.bot_id, realm=memory.realm)
    stored = [slot for slot in stores.slots.all(view) if slot.slot_name == memory.type.value]
    return _row_ids(built) == _row_ids(stored[0] if stored else None)


def _row_ids(slot: Slot | None) -> list[int]:
    return [] if slot is None else list(slot.provenance.get("active_memory_ids") or ())
