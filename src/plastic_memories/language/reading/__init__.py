"""Extract memory drafts from Chinese and English messages, by rules alone."""

from __future__ import annotations
