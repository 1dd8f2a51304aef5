"""Counts and timings for operators."""

from __future__ import annotations

from typing import Any, Protocol


class Meter(Protocol):
    """Numbers by tenant, so that no tenant is shown another's. Never raises.

    What belongs to no tenant (None) stands only among the numbers of all.
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
        """Set a number that goes up and down; None for that of all tenants together."""
        ...

    def render(self, tenant_id: str | None) -> str:
        """Return Prometheus text: one tenant's numbers, or all of them for None."""
        ...

    def samples(self, tenant_id: str | None) -> list[dict[str, Any]]:
        """Return the same numbers as objects with name, labels and value."""
        ...
