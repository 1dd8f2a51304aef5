"""Doors for programs made for another system: each answers in that system's own shape."""

from __future__ import annotations
