"""From talk to memory drafts by rules alone, in Chinese and English."""

from __future__ import annotations
