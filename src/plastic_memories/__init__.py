"""Plastic Memories: the memory every AI companion plugs into."""

from __future__ import annotations

__version__ = "0.1.0"
