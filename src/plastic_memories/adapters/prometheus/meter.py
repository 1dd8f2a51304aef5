"""Metrics in Prometheus text, one registry for each tenant and one for all."""

from __future__ import annotations

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


class _Numbers:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.counters = {
            name: Counter(name, text, labels, registry=self.registry)
            for name, (text, labels) in _COUNTERS.items()
        }
        self.histograms = {
            name: Histogram(name, text, labels, buckets=buckets, registry=self.registry)
            for name, (text, labels, buckets) in _HISTOGRAMS.items()
        }
        self.gauges = {
            name: Gauge(name, text, registry=self.registry) for name, text in _GAUGES.items()
        }
        # Looking a labelled number up in the library costs more than counting it.
        self._labelled: dict[tuple[str, ...], Any] = {}

    def counter(self, name: str, labels: dict[str, str]) -> Counter:
        found: Counter = self._one(self.counters[name], name, labels)
        return found

    def histogram(self, name: str, labels: dict[str, str]) -> Histogram:
        found: Histogram = self._one(self.histograms[name], name, labels)
        return found

    def _one(self, metric: Any, name: str, labels: dict[str, str]) -> Any:
        key = (name, *labels.values())
        if key not in self._labelled:
            self._labelled[key] = metric.labels(**labels) if labels else metric
        return self._labelled[key]


class PrometheusMeter:
    def __init__(self) -> None:
        self._all = _Numbers()
        ProcessCollector(registry=self._all.registry)
        PlatformCollector(registry=self._all.registry)
        GCCollector(registry=self._all.registry)
        self._tenants: dict[str, _Numbers] = {}

    def count(self, tenant_id: str | None, name: str, **labels: str) -> None:
        for numbers in self._both(tenant_id):
            numbers.counter(name, labels).inc()

    def add(self, tenant_id: str | None, name: str, amount: float, **labels: str) -> None:
        for numbers in self._both(tenant_id):
            numbers.counter(name, labels).inc(amount)

    def observe(self, tenant_id: str | None, name: str, value: float, **labels: str) -> None:
        for numbers in self._both(tenant_id):
            numbers.histogram(name, labels).observe(value)

    def show(self, tenant_id: str | None, name: str, value: float) -> None:
        self._of(tenant_id).gauges[name].set(value)

    def render(self, tenant_id: str | None) -> str:
        return generate_latest(self._of(tenant_id).registry).decode()

    def samples(self, tenant_id: str | None) -> list[dict[str, Any]]:
        return [
            {"name": sample.name, "labels": sample.labels, "value": sample.value}
            for metric in self._of(tenant_id).registry.collect()
            for sample in metric.samples
        ]

    def _both(self, tenant_id: str | None) -> tuple[_Numbers, ...]:
        return (self._all,) if tenant_id is None else (self._all, self._of(tenant_id))

    def _of(self, tenant_id: str | None) -> _Numbers:
        if tenant_id is None:
            return self._all
        if tenant_id not in self._tenants:
            self._tenants[tenant_id] = _Numbers()
        return self._tenants[tenant_id]
