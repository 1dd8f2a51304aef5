"""Benchmarks of the hub: how fast, and (with data) how well it recalls."""

from __future__ import annotations
