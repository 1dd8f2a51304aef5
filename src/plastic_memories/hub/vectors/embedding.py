"""Embedding service: loads the embedder in the background and backfills vectors with it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.errors import PlasticMemoriesError, Unavailable
from plastic_memories.hub.vectors.backfill import READ_BATCH, VectorBackfill
from plastic_memories.hub.vectors.embedder_probe import probe_embedder
from plastic_memories.hub.vectors.query_vectors import QueryVectorCache
from plastic_memories.hub.vectors.recent_entries import RecentEntries
from plastic_memories.model.entry import EntryCursor
from plastic_memories.model.owner import Owner
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, QueryVector, Vectors
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.runtime.model_thread import ModelThread
from plastic_memories.runtime.write_burst import WriteBurstThrottle

logger = logging.getLogger(__name__)
_CLEAR_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingTimings:
    """Delays and timeouts of the embedding service, in seconds."""

    # The server starts listening first: loading takes one core for about a second.
    settle_s: float = 0.25
    load_s: float = 300.0
    batch_s: float = 120.0
    query_s: float = 5.0
    # Another process may have written; writes of this process wake the service.
    poll_s: float = 15.0
    first_retry_s: float = 1.0
    last_retry_s: float = 60.0


@dataclass(slots=True)
class EmbeddingService:
    """States: off · loading · clearing (another model's vectors) · ready · failing."""

    storage: StorageBackend
    choice: EmbedderChoice
    meter: Meter
    timings: EmbeddingTimings = field(default_factory=EmbeddingTimings)
    write_throttle: WriteBurstThrottle = field(default_factory=WriteBurstThrottle)
    # A process that runs a single command leaves the vectors of another model to the hub.
    may_clear: bool = True
    # Entries embedded before they are stored: a short-lived process must not lose many.
    batch: int = READ_BATCH
    status: str = "loading"
    error: str = ""
    _embedder: Embedder | None = None
    _backfill: VectorBackfill | None = None
    _queries: QueryVectorCache | None = None
    _recent: RecentEntries | None = None
    # Numbers of writes: all, and those before the last complete backfill.
    _writes: int = 0
    _writes_filled: int = 0
    _model_thread: ModelThread = field(default_factory=lambda: ModelThread("embed"))
    # Reading does not wait for a batch of the backfill.
    _passage_thread: ModelThread = field(default_factory=lambda: ModelThread("embed-passages"))
    _passage_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _wake_event: asyncio.Event = field(default_factory=asyncio.Event)
    _load_attempted: asyncio.Event = field(default_factory=asyncio.Event)
    _backfill_idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        if self.choice.load is None:
            self.status = "off"

    def wake(self) -> None:
        """Wake the service because something was written."""
        self._writes += 1
        self._wake_event.set()

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        """Return the vector of a query, or the reason for its absence; off needs no reason."""
        if self.status == "off":
            return QueryVector()
        if self.status != "ready" or self._queries is None:
            return QueryVector(None, f"the embedder is {self.status}")
        started = time.perf_counter()
        found = await self._queries.get(text, deadline_s)
        self._count(tenant_id, found, time.perf_counter() - started)
        return found

    async def embed_recent(self, owner: Owner, deadline_s: float) -> None:
        """Embed the few entries that an owner wrote since the last backfill; give up if late."""
        if self.status == "ready" and self._recent and self._writes != self._writes_filled:
            await self._recent.embed(owner, deadline_s)

    async def passage_vectors(
        self, texts: Sequence[str], model: str, load_s: float
    ) -> Vectors | None:
        """Return the vectors of texts if `model` is the chosen one, else None.

        Wait at most `load_s` while it is loading. None, too, if it fails.
        """
        if self.status == "off" or self.choice.model not in ("", model):
            return None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._load_attempted.wait(), load_s)
        embedder = self._embedder
        if embedder is None or embedder.model != model:
            return None
        try:
            async with self._passage_lock:
                return await self._passage_thread.run(
                    lambda: embedder.embed(texts, purpose="passage"), self.timings.batch_s
                )
        except PlasticMemoriesError as error:
            logger.warning("embedder.passages", extra={"fields": {"err": error.message}})
            return None

    def loaded_model(self) -> dict[str, Any]:
        """Return the name, status and model of the embedder, for callers."""
        embedder = self._embedder
        return {
            "name": self.choice.name,
            "status": self.status,
            "model": embedder.model if embedder else "",
            "dimension": embedder.dimension if embedder else 0,
        }

    def describe(self) -> dict[str, Any]:
        """Return the loaded model, why it was chosen and its last error, for operators."""
        set_aside = len(self._backfill.skipped) if self._backfill else 0
        more = {"why": self.choice.why, "error": self.error, "set_aside": set_aside}
        return {**self.loaded_model(), **more}

    async def backlog(self, tenant_id: str | None = None) -> int:
        """Return how many entries wait for a vector; 0 if there is no embedder.

        A vector of another model counts as waiting: it must be made again.
        """
        if self.status == "off":
            return 0

        def work(stores: Stores) -> int:
            waiting = stores.vectors.backlog(tenant_id)
            stale = self._differs_from(stores.vectors.model())
            return waiting + stores.vectors.count_stored(tenant_id) if stale else waiting

        return await self.storage.read(work)

    async def record_backlog(self, tenant_id: str | None) -> None:
        """Set the backlog gauge of one tenant, or of all tenants for None."""
        try:
            waiting = await self.backlog(tenant_id)
        except Unavailable:  # the other metrics matter all the more now
            return
        self.meter.set_gauge(tenant_id, "embedding_backlog", waiting)

    async def wait_until_filled(self, load_s: float, fill_s: float) -> int:
        """Wait at most `load_s` for the load and `fill_s` for the backfill; return the backlog.

        A failed load ends the wait. Skipped entries do not count, and the backlog is 0 unless the
        embedder is ready.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._load_attempted.wait(), load_s)
            await asyncio.wait_for(self._backfill_idle.wait(), fill_s)
        if self.status != "ready" or self._backfill is None:
            return 0
        return max(0, await self.backlog() - len(self._backfill.skipped))

    async def run_forever(self) -> None:
        """Load the embedder, then backfill in a loop; retry failures with exponential backoff."""
        if self.choice.load is None:
            logger.info("embedder", extra={"fields": {"status": "off", "why": self.choice.why}})
            self._mark_idle()
            return
        await asyncio.sleep(self.timings.settle_s)
        wait_s = self.timings.first_retry_s
        while True:
            try:
                await self._run_once()
                wait_s = self.timings.first_retry_s
            except PlasticMemoriesError as error:
                self._record_failure(error.message)
            # A plug-in's constructor may raise anything; the hub continues without vectors.
            except Exception as error:
                logger.exception("embedder")
                self._record_failure(f"The embedder raised {type(error).__name__}.")
            self._mark_idle()
            if self.status == "failing":
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, self.timings.last_retry_s)
            else:
                await self._wait()

    async def close(self) -> None:
        if self._recent is not None:
            await self._recent.close()
        if self._queries is not None:
            await self._queries.close()
        await self._passage_thread.close()
        await self._model_thread.close()
        if self.choice.close is not None:
            await asyncio.to_thread(self.choice.close)

    async def _run_once(self) -> None:
        if self._backfill is None:
            self._backfill = await self._prepare_backfill()
        elif self.status == "failing":
            await self._backfill.probe()
        backfill = self._backfill
        if await self.storage.read(lambda stores: stores.vectors.model()) != backfill.model:
            raise Unavailable("Another process stores vectors of another model.")
        self._set_status("ready")
        self._load_attempted.set()
        writes = self._writes
        await backfill.fill_missing()
        self._writes_filled = writes

    async def _prepare_backfill(self) -> VectorBackfill:
        if self._embedder is None:
            assert self.choice.load is not None
            # After a failure the status stays "failing", whatever the cause, until it works.
            if self.status != "failing":
                self._set_status("loading")
            self._embedder = await self._model_thread.run(self.choice.load, self.timings.load_s)
        embedder = self._embedder
        backfill = VectorBackfill(
            self.storage, self.meter, embedder, _stored_name(embedder), self.choice.name,
            self._model_thread, self.timings.batch_s, self.batch, self.write_throttle,
        )  # fmt: skip
        # Good vectors of another model are not discarded for an embedder that does not work.
        background = await self._model_thread.run(
            lambda: probe_embedder(embedder), self.timings.batch_s
        )
        await self._adopt_model(backfill.model)
        self._queries = QueryVectorCache(
            embedder,
            ModelThread("embed-query"),
            self._record_failure,
            self.timings.query_s,
            background,
        )
        # An embedder elsewhere may be slow, or cost money for each call: only the backfill asks it.
        self._recent = RecentEntries.ahead_of(backfill) if self.choice.is_in_process else None
        return backfill

    async def _adopt_model(self, model: str) -> None:
        """Make sure that all stored vectors are of this model before any is added or queried."""
        known, stored = await self.storage.read(
            lambda stores: (stores.vectors.model(), stores.vectors.count_stored())
        )
        if known == model:
            return
        if (known or stored) and not self.may_clear:
            raise Unavailable("The stored vectors are of another model; a hub makes them anew.")
        if stored:
            self._set_status("clearing")
            await self._clear()
        await self.storage.write(lambda stores: stores.vectors.set_model(model))

    def _differs_from(self, stored: str) -> bool:
        """Return whether the stored vectors are known to be of another model than the chosen."""
        if self._embedder is not None:
            return stored != _stored_name(self._embedder)
        # Before loading, the model's name may be known, but not its dimension.
        return self.choice.model not in ("", stored.rpartition("#")[0])

    async def _clear(self) -> None:
        cursor: EntryCursor | None = EntryCursor()
        while cursor is not None:
            cursor = await self.storage.write(_clear_batch(cursor))

    def _count(self, tenant_id: str, found: QueryVector, seconds: float) -> None:
        status = "ok" if found.vector is not None else "failed"
        labels = {"backend": self.choice.name, "operation": "embed_query"}
        self.meter.count(tenant_id, "vector_operations", **labels, status=status)
        self.meter.observe(tenant_id, "vector_latency_seconds", seconds, **labels)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self.timings.poll_s):
                await self._wake_event.wait()
        except TimeoutError:
            pass
        self._wake_event.clear()

    def _mark_idle(self) -> None:
        self._load_attempted.set()
        self._backfill_idle.set()

    def _record_failure(self, why: str) -> None:
        if self.status != "failing" or self.error != why:
            logger.warning("embedder", extra={"fields": {"status": "failing", "err": why}})
        self.status, self.error = "failing", why
        self._wake_event.set()

    def _set_status(self, status: str) -> None:
        if self.status != status:
            fields = {"status": status, "embedder": self.choice.name, "why": self.choice.why}
            logger.info("embedder", extra={"fields": fields})
        self.status, self.error = status, ""


def _stored_name(embedder: Embedder) -> str:
    """Return the name by which the storage knows the model of its vectors."""
    return f"{embedder.model}#{embedder.dimension}"


def _clear_batch(cursor: EntryCursor) -> Any:
    def work(stores: Stores) -> EntryCursor | None:
        # Without a model nobody adds vectors, even if this is interrupted: the next start resumes.
        stores.vectors.set_model("")
        return stores.vectors.clear(cursor, _CLEAR_BATCH)

    return work
