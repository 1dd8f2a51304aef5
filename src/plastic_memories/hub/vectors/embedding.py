"""The embedder of a hub: loaded in the background, kept busy, never in anybody's way."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.errors import PlasticMemoriesError, Unavailable
from plastic_memories.hub.vectors.backfill import BATCH, Vectorise
from plastic_memories.hub.vectors.embedder_probe import probe
from plastic_memories.hub.vectors.query_vectors import QueryVectors
from plastic_memories.model.vector import EntryMark
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, QueryVector
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.runtime.model_thread import Lane
from plastic_memories.runtime.write_burst import Lull

logger = logging.getLogger(__name__)
_CLEARED_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long the embedder waits for what."""

    # Whoever starts the hub gets to listen first: loading takes a core for a second.
    settle_s: float = 0.25
    load_s: float = 300.0
    batch_s: float = 120.0
    query_s: float = 5.0
    # Another process may have written; our own writes wake us.
    poll_s: float = 15.0
    first_retry_s: float = 1.0
    last_retry_s: float = 60.0


@dataclass(slots=True)
class Embedding:
    """States: off · loading · clearing (another model's vectors) · ready · failing."""

    storage: StorageBackend
    choice: EmbedderChoice
    meter: Meter
    pace: Pace = field(default_factory=Pace)
    lull: Lull = field(default_factory=Lull)
    # A process that is here for one command leaves the vectors of another model to the hub.
    may_clear: bool = True
    # How many are embedded before they are stored: what ends soon must not lose much.
    batch: int = BATCH
    status: str = "loading"
    error: str = ""
    _embedder: Embedder | None = None
    _fill: Vectorise | None = None
    _queries: QueryVectors | None = None
    _lane: Lane = field(default_factory=lambda: Lane("embed"))
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _tried: asyncio.Event = field(default_factory=asyncio.Event)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        if self.choice.load is None:
            self.status = "off"

    def wake(self) -> None:
        """Say that something was written."""
        self._woken.set()

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        """Return the vector of a question, or why there is none; no reason if none is wanted."""
        if self.status == "off":
            return QueryVector()
        if self.status != "ready" or self._queries is None:
            return QueryVector(None, f"the embedder is {self.status}")
        started = time.perf_counter()
        found = await self._queries.get(text, deadline_s)
        self._count(tenant_id, found, time.perf_counter() - started)
        return found

    def names(self) -> dict[str, Any]:
        """Return what is loaded, for callers."""
        embedder = self._embedder
        return {
            "name": self.choice.name,
            "status": self.status,
            "model": embedder.model if embedder else "",
            "dimension": embedder.dimension if embedder else 0,
        }

    def describe(self) -> dict[str, Any]:
        """Return what is loaded, why, and how it is, for operators."""
        set_aside = len(self._fill.set_aside) if self._fill else 0
        more = {"why": self.choice.why, "error": self.error, "set_aside": set_aside}
        return {**self.names(), **more}

    async def backlog(self, tenant_id: str | None = None) -> int:
        """Return how many entries wait for a vector; none does if there is no embedder.

        A vector of another model is one that must be made anew.
        """
        if self.status == "off":
            return 0

        def work(stores: Stores) -> int:
            waiting = stores.vectors.backlog(tenant_id)
            stale = self._differs_from(stores.vectors.model())
            return waiting + stores.vectors.stored(tenant_id) if stale else waiting

        return await self.storage.read(work)

    async def measure(self, tenant_id: str | None) -> None:
        """Show how much waits for a vector: of one tenant, or of all for None."""
        try:
            waiting = await self.backlog(tenant_id)
        except Unavailable:  # the other numbers are needed all the more
            return
        self.meter.show(tenant_id, "embedding_backlog", waiting)

    async def settled(self, load_s: float, fill_s: float) -> int:
        """Wait until it is ready, then until everything has its vector, each for so long at most.

        It does not wait for one that fails. Return how many still wait for their vectors, if it
        is ready.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), load_s)
            await asyncio.wait_for(self._settled.wait(), fill_s)
        if self.status != "ready" or self._fill is None:
            return 0
        return max(0, await self.backlog() - len(self._fill.set_aside))

    async def forever(self) -> None:
        """Load, then fill in again and again; what fails is tried again, later and later."""
        if self.choice.load is None:
            logger.info("embedder", extra={"fields": {"status": "off", "why": self.choice.why}})
            self._settle()
            return
        await asyncio.sleep(self.pace.settle_s)
        wait_s = self.pace.first_retry_s
        while True:
            try:
                await self._once()
                wait_s = self.pace.first_retry_s
            except PlasticMemoriesError as error:
                self._failed(error.message)
            # A plug-in's constructor may raise anything; the hub goes on without vectors.
            except Exception as error:
                logger.exception("embedder")
                self._failed(f"The embedder raised {type(error).__name__}.")
            self._settle()
            if self.status == "failing":
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, self.pace.last_retry_s)
            else:
                await self._wait()

    async def close(self) -> None:
        if self._queries is not None:
            await self._queries.close()
        await self._lane.close()
        if self.choice.close is not None:
            await asyncio.to_thread(self.choice.close)

    async def _once(self) -> None:
        if self._fill is None:
            self._fill = await self._prepared()
        elif self.status == "failing":
            await self._fill.probe()
        fill = self._fill
        if await self.storage.read(lambda stores: stores.vectors.model()) != fill.model:
            raise Unavailable("Another process stores vectors of another model.")
        self._be("ready")
        self._tried.set()
        await fill.round()

    async def _prepared(self) -> Vectorise:
        if self._embedder is None:
            assert self.choice.load is not None
            # One that failed is failing, for whatever reason it had, until it works.
            if self.status != "failing":
                self._be("loading")
            self._embedder = await self._lane.run(self.choice.load, self.pace.load_s)
        embedder = self._embedder
        fill = Vectorise(
            self.storage, self.meter, embedder, _stored_name(embedder), self.choice.name,
            self._lane, self.pace.batch_s, self.batch, self.lull,
        )  # fmt: skip
        # Good vectors of another model are not given up for an embedder that does not work.
        ordinary = await self._lane.run(lambda: probe(embedder), self.pace.batch_s)
        await self._adopt(fill.model)
        self._queries = QueryVectors(
            embedder, Lane("embed-query"), self._failed, self.pace.query_s, ordinary
        )
        return fill

    async def _adopt(self, model: str) -> None:
        """Make sure that every stored vector is of this model, before one is added or asked for."""
        known, stored = await self.storage.read(
            lambda stores: (stores.vectors.model(), stores.vectors.stored())
        )
        if known == model:
            return
        if (known or stored) and not self.may_clear:
            raise Unavailable("The stored vectors are of another model; a hub makes them anew.")
        if stored:
            self._be("clearing")
            await self._clear()
        await self.storage.write(lambda stores: stores.vectors.set_model(model))

    def _differs_from(self, stored: str) -> bool:
        """Say whether stored vectors are known to be of another model than the chosen one."""
        if self._embedder is not None:
            return stored != _stored_name(self._embedder)
        # Before it is loaded its name may be known, but not how long its vectors are.
        return self.choice.model not in ("", stored.rpartition("#")[0])

    async def _clear(self) -> None:
        mark: EntryMark | None = EntryMark()
        while mark is not None:
            mark = await self.storage.write(_clearing(mark))

    def _count(self, tenant_id: str, found: QueryVector, seconds: float) -> None:
        status = "ok" if found.vector is not None else "failed"
        labels = {"backend": self.choice.name, "operation": "embed_query"}
        self.meter.count(tenant_id, "vector_operations", **labels, status=status)
        self.meter.observe(tenant_id, "vector_latency_seconds", seconds, **labels)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self.pace.poll_s):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    def _settle(self) -> None:
        self._tried.set()
        self._settled.set()

    def _failed(self, why: str) -> None:
        if self.status != "failing" or self.error != why:
            logger.warning("embedder", extra={"fields": {"status": "failing", "err": why}})
        self.status, self.error = "failing", why
        self._woken.set()

    def _be(self, status: str) -> None:
        if self.status != status:
            fields = {"status": status, "embedder": self.choice.name, "why": self.choice.why}
            logger.info("embedder", extra={"fields": fields})
        self.status, self.error = status, ""


def _stored_name(embedder: Embedder) -> str:
    """Return the name under which the storage knows whose vectors it holds."""
    return f"{embedder.model}#{embedder.dimension}"


def _clearing(mark: EntryMark) -> Any:
    def work(stores: Stores) -> EntryMark | None:
        # Nobody adds one meanwhile, also if this is cut short: the next start goes on clearing.
        stores.vectors.set_model("")
        return stores.vectors.clear(mark, _CLEARED_AT_ONCE)

    return work
