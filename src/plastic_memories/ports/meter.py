"""Port of the meter: counters, gauges and histograms for operators."""

from __future__ import annotations

from typing import Any, Protocol


class Meter(Protocol):
    """Metrics by tenant, so that no tenant sees another's. Never raises.

    Metrics without a tenant (None) appear only in the metrics of all tenants.
    """

    def count(self, tenant_id: str | None, name: str, **labels: str) -> None:
        """Add one to a counter."""
        ...

    def add(self, tenant_id: str | None, name: str, amount: float, **labels: str) -> None:
        """Add an amount to a counter."""
        ...

    def observe(self, tenant_id: str | None, name: str, value: float, **labels: str) -> None:
        """Add one observation to a histogram."""
        ...

    def set_gauge(self, tenant_id: str | None, name: str, value: float) -> None:
        """Set a gauge; None sets the gauge of all tenants together."""
        ...

    def render(self, tenant_id: str | None) -> str:
        """Return Prometheus text: the metrics of one tenant, or all metrics for None."""
        ...

    def samples(self, tenant_id: str | None) -> list[dict[str, Any]]:
        """Return the same metrics as objects with name, labels and value."""
        ...
