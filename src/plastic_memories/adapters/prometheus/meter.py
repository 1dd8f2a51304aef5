"""Prometheus metrics, per tenant and for all tenants."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

_LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
_GENERATION_BUCKETS = (1, 5, 10, 30, 60, 120)
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
    "embedding_backlog": "Memories and messages that wait for a vector; 0 without an embedder.",
}
_HISTOGRAMS = {
    "memory_generation_latency_seconds": ("Time of one try of a job.", (), _GENERATION_BUCKETS),
    "memory_recall_latency_seconds": ("Time of a recall inside the hub.", (), _LATENCY_BUCKETS),
    "memory_recall_count": ("Memories in one answer.", (), (0, 1, 2, 3, 5, 10)),
    "memory_store_latency_seconds": (
        "Time of a transaction, waiting for its turn included.",
        ("backend", "operation"),
        _LATENCY_BUCKETS,
    ),
    "vector_latency_seconds": (
        "Time of work on vectors.",
        ("backend", "operation"),
        _LATENCY_BUCKETS,
    ),
    "http_request_seconds": ("Time of a request by route.", ("route",), _LATENCY_BUCKETS),
}


class _TenantMetrics:
    """The counters, histograms and gauges of one tenant, or of none."""

    def __init__(self) -> None:
        # Separate registries: only counters and histograms can be summed over tenants.
        self.counted = CollectorRegistry()
        self.shown = CollectorRegistry()
        self.counters = {
            name: Counter(name, text, labels, registry=self.counted)
            for name, (text, labels) in _COUNTERS.items()
        }
        self.histograms = {
            name: Histogram(name, text, labels, buckets=bounds, registry=self.counted)
            for name, (text, labels, bounds) in _HISTOGRAMS.items()
        }
        self.gauges = {
            name: Gauge(name, text, registry=self.shown) for name, text in _GAUGES.items()
        }


class _Sum(Collector):
    """The metrics of several tenants, summed."""

    def __init__(self, registries: Sequence[CollectorRegistry]) -> None:
        self._registries = registries

    def collect(self) -> Iterator[Metric]:
        # Every registry has the same families, in the order of the tables above.
        for families in zip(*(each.collect() for each in self._registries), strict=True):
            yield _add_up(families)


def _add_up(families: Sequence[Metric]) -> Metric:
    """Return a family with the sums of all samples of the same name and labels."""
    first = families[0]
    sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = defaultdict(float)
    for sample in (sample for family in families for sample in family.samples):
        # The creation time of a series cannot be summed, and means nothing here.
        if not sample.name.endswith("_created"):
            sums[sample.name, tuple(sample.labels.items())] += sample.value
    total = Metric(first.name, first.documentation, first.type)
    for (name, labels), value in sums.items():
        total.add_sample(name, dict(labels), value)
    return total


_SeriesKey = tuple[str | None, str, tuple[tuple[str, str], ...]]


class PrometheusMeter:
    def __init__(self) -> None:
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)
        PlatformCollector(registry=self._process)
        GCCollector(registry=self._process)
        self._numbers: dict[str | None, _TenantMetrics] = {None: _TenantMetrics()}
        # Reader threads and the writer thread count concurrently.
        self._lock = threading.Lock()
        # By tenant, name and labels: to look a series up by its labels costs more than to count.
        self._counters: dict[_SeriesKey, Counter] = {}
        self._histograms: dict[_SeriesKey, Histogram] = {}

    def count(self, tenant_id: str | None, name: str, **labels: str) -> None:
        self.add(tenant_id, name, 1.0, **labels)

    def add(self, tenant_id: str | None, name: str, amount: float, **labels: str) -> None:
        key = tenant_id, name, tuple(labels.items())
        counter = self._counters.get(key)
        if counter is None:
            family = self._tenant_metrics(tenant_id).counters[name]
            counter = self._counters[key] = family.labels(**labels) if labels else family
        counter.inc(amount)

    def observe(self, tenant_id: str | None, name: str, value: float, **labels: str) -> None:
        key = tenant_id, name, tuple(labels.items())
        histogram = self._histograms.get(key)
        if histogram is None:
            family = self._tenant_metrics(tenant_id).histograms[name]
            histogram = self._histograms[key] = family.labels(**labels) if labels else family
        histogram.observe(value)

    def set_gauge(self, tenant_id: str | None, name: str, value: float) -> None:
        self._tenant_metrics(tenant_id).gauges[name].set(value)

    def render(self, tenant_id: str | None) -> str:
        return generate_latest(self._registry(tenant_id)).decode()

    def samples(self, tenant_id: str | None) -> list[dict[str, Any]]:
        return [
            {"name": sample.name, "labels": sample.labels, "value": sample.value}
            for metric in self._registry(tenant_id).collect()
            for sample in metric.samples
        ]

    def _tenant_metrics(self, tenant_id: str | None) -> _TenantMetrics:
        with self._lock:
            if tenant_id not in self._numbers:
                self._numbers[tenant_id] = _TenantMetrics()
            return self._numbers[tenant_id]

    def _registry(self, tenant_id: str | None) -> CollectorRegistry:
        """Return the metrics of a tenant; for None those of all tenants and of the process."""
        own = self._tenant_metrics(tenant_id)
        with self._lock:
            counted = list(self._numbers.values()) if tenant_id is None else [own]
        registry = CollectorRegistry()
        registry.register(_Sum([metrics.counted for metrics in counted]))
        registry.register(own.shown)
        if tenant_id is None:
            registry.register(self._process)
        return registry
