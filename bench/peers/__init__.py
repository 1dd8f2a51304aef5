"""Other memory systems, one small adapter each; each runs in its own environment."""

from __future__ import annotations
