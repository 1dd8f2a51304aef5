"""Recall quality and speed of the hub and of other systems, on labelled conversations."""

from __future__ import annotations
