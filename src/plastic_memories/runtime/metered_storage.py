"""The storage with a stopwatch: how often it is asked, how long it takes, for whom."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from plastic_memories.errors import PlasticMemoriesError, Unavailable
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import Residue, StorageBackend, Stores

T = TypeVar("T")
# For whom this task works; None while that is not known, and for the hub's own upkeep.
current_tenant: ContextVar[str | None] = ContextVar("working_for", default=None)


@dataclass(frozen=True, slots=True)
class MeteredStorage:
    storage: StorageBackend
    meter: Meter
    backend: str

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self._measure("read", self.storage.read(work))

    async def write(self, work: Callable[[Stores], T]) -> T:
        return await self._measure("write", self.storage.write(work))

    async def scrub(self) -> Residue:
        return await self._measure("scrub", self.storage.scrub())

    async def describe(self) -> Mapping[str, Any]:
        return await self.storage.describe()

    async def _measure(self, operation: str, answer: Awaitable[T]) -> T:
        started = time.perf_counter()
        status = "failed"
        try:
            result = await answer
            status = "ok"
        except PlasticMemoriesError as error:
            # If the work itself said no, the storage did its part.
            status = "failed" if isinstance(error, Unavailable) else "ok"
            raise
        finally:
            tenant, seconds = current_tenant.get(), time.perf_counter() - started
            labels = {"backend": self.backend, "operation": operation}
            self.meter.count(tenant, "memory_store_operations", **labels, status=status)
            self.meter.observe(tenant, "memory_store_latency_seconds", seconds, **labels)
        return result
