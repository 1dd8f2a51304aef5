"""mem0's open-source server and its hosted interface, on top of the hub."""

from __future__ import annotations
