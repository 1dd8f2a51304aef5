"""Metrics in Prometheus text, for each tenant and for all.

Counted here and only written by the library: its own counters, each behind its lock and once more
for the numbers of all, took a tenth of the processor time of a small write.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

_LATENCY = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
_GENERATION = (1, 5, 10, 30, 60, 120)
_COUNTERS = {
    "memory_generation_tasks": ("Tries of jobs by what they led to.", ("status",)),
    "memory_recall_requests": ("Recalls by intent and outcome.", ("intent_type", "status")),
    "memory_consolidations": ("What was put in order, by kind of change.", ("change",)),
    "memory_writes": ("Writes by the status they led to.", ("status",)),
    "memory_model_requests": ("Questions to the language model by outcome.", ("status",)),
    "memory_model_tokens": ("Tokens read (in) and written (out) by the model.", ("kind",)),
    "memory_model_cost": ("What those tokens cost, in the currency of the price settings.", ()),
    "memory_store_operations": (
        "Transactions by backend and outcome.",
        ("backend", "operation", "status"),
    ),
    "vector_operations": (
        "Work on vectors by backend and outcome.",
        ("backend", "operation", "status"),
    ),
    "http_requests": ("Requests by route and status.", ("route", "status")),
}
_GAUGES = {
    "memory_jobs_waiting": "Jobs that wait or are being done.",
    "memory_jobs_oldest_seconds": "Age of the job that waits longest.",
    "memory_jobs_dead": "Jobs that were given up.",
    "embedding_backlog": "Memories that wait for a vector; 0 without an embedder.",
}
_HISTOGRAMS = {
    "memory_generation_latency_seconds": ("Time of one try of a job.", (), _GENERATION),
    "memory_recall_latency_seconds": ("Time of a recall inside the hub.", (), _LATENCY),
    "memory_recall_count": ("Memories in one answer.", (), (0, 1, 2, 3, 5, 10)),
    "memory_store_latency_seconds": (
        "Time of a transaction, waiting for its turn included.",
        ("backend", "operation"),
        _LATENCY,
    ),
    "vector_latency_seconds": ("Time of work on vectors.", ("backend", "operation"), _LATENCY),
    "http_request_seconds": ("Time of a request by route.", ("route",), _LATENCY),
}


# The values of a number's labels, in the order in which they are declared.
_Labels = tuple[str, ...]


class _Spread:
    """How many observations fell under each bound, and what they add up to."""

    __slots__ = ("bounds", "numbers", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.numbers = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.numbers[bisect_left(self.bounds, value)] += 1
        self.total += value

    def take(self, other: _Spread) -> None:
        self.numbers = [mine + its for mine, its in zip(self.numbers, other.numbers, strict=True)]
        self.total += other.total

    def buckets(self) -> list[tuple[str, float]]:
        names = [*map(floatToGoString, self.bounds), "+Inf"]
        return list(zip(names, accumulate(self.numbers), strict=True))


class _Numbers:
    """What was counted and observed for one tenant, or for none."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[_Labels, float]] = {name: {} for name in _COUNTERS}
        self.spreads: dict[str, dict[_Labels, _Spread]] = {name: {} for name in _HISTOGRAMS}
        self.shown = dict.fromkeys(_GAUGES, 0.0)
        # What has no labels is there from the start.
        for name in (name for name, (_, labels) in _COUNTERS.items() if not labels):
            self.count(name, (), 0.0)
        for name in (name for name, (_, labels, _) in _HISTOGRAMS.items() if not labels):
            self.spread(name, ())

    def count(self, name: str, labels: _Labels, amount: float) -> None:
        counts = self.counts[name]
        counts[labels] = counts.get(labels, 0.0) + amount

    def spread(self, name: str, labels: _Labels) -> _Spread:
        spreads = self.spreads[name]
        if labels not in spreads:
            spreads[labels] = _Spread(_HISTOGRAMS[name][2])
        return spreads[labels]

    def take(self, other: _Numbers) -> None:
        """Add what another has counted."""
        for name, counts in other.counts.items():
            for labels, amount in counts.items():
                self.count(name, labels, amount)
        for name, spreads in other.spreads.items():
            for labels, spread in spreads.items():
                self.spread(name, labels).take(spread)

    def families(self) -> Iterator[Metric]:
        """Yield the numbers in the library's shapes."""
        for name, (text, labels) in _COUNTERS.items():
            counter = CounterMetricFamily(name, text, labels=labels)
            for values, amount in self.counts[name].items():
                counter.add_metric(values, amount)
            yield counter
        for name, (text, labels, _) in _HISTOGRAMS.items():
            histogram = HistogramMetricFamily(name, text, labels=labels)
            for values, spread in self.spreads[name].items():
                histogram.add_metric(values, spread.buckets(), spread.total)
            yield histogram
        for name, text in _GAUGES.items():
            yield GaugeMetricFamily(name, text, value=self.shown[name])


class _Written(Collector):
    """One tenant's numbers, or those of all, when they are asked for."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterable[Metric]:
        return self._numbers.families()


class PrometheusMeter:
    def __init__(self) -> None:
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)
        PlatformCollector(registry=self._process)
        GCCollector(registry=self._process)
        self._numbers: dict[str | None, _Numbers] = {None: _Numbers()}
        # Readers and the writer count on threads of their own.
        self._lock = threading.Lock()

    def count(self, tenant_id: str | None, name: str, **labels: str) -> None:
        values = tuple([labels[label] for label in _COUNTERS[name][1]])
        with self._lock:
            self._of(tenant_id).count(name, values, 1.0)

    def add(self, tenant_id: str | None, name: str, amount: float, **labels: str) -> None:
        values = tuple([labels[label] for label in _COUNTERS[name][1]])
        with self._lock:
            self._of(tenant_id).count(name, values, amount)

    def observe(self, tenant_id: str | None, name: str, value: float, **labels: str) -> None:
        values = tuple([labels[label] for label in _HISTOGRAMS[name][1]])
        with self._lock:
            self._of(tenant_id).spread(name, values).observe(value)

    def show(self, tenant_id: str | None, name: str, value: float) -> None:
        with self._lock:
            self._of(tenant_id).shown[name] = value

    def render(self, tenant_id: str | None) -> str:
        return generate_latest(self._registry(tenant_id)).decode()

    def samples(self, tenant_id: str | None) -> list[dict[str, Any]]:
        return [
            {"name": sample.name, "labels": sample.labels, "value": sample.value}
            for metric in self._registry(tenant_id).collect()
            for sample in metric.samples
        ]

    def _of(self, tenant_id: str | None) -> _Numbers:
        if tenant_id not in self._numbers:
            self._numbers[tenant_id] = _Numbers()
        return self._numbers[tenant_id]

    def _registry(self, tenant_id: str | None) -> CollectorRegistry:
        """Return a copy of the numbers to be read; all of them, and the process's own, for None."""
        registry = CollectorRegistry()
        copy = _Numbers()
        with self._lock:
            wanted = self._numbers.values() if tenant_id is None else (self._of(tenant_id),)
            for numbers in wanted:
                copy.take(numbers)
            copy.shown |= self._of(tenant_id).shown
        registry.register(_Written(copy))
        if tenant_id is None:
            registry.register(self._process)
        return registry
