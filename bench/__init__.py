"""Benchmarks of the hub: speed, and (with data) recall quality."""

from __future__ import annotations
