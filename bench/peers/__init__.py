"""Other memory systems, one small adapter each; each runs in an environment of its own."""

from __future__ import annotations
