"""How well and how fast the hub recalls, beside its peers, on labelled conversations."""

from __future__ import annotations
