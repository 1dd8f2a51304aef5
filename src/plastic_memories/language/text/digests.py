"""Digests of API keys."""

from __future__ import annotations

import hashlib


def api_key_digest(key: str) -> str:
    """Return the digest of a key. Keys are long and random, so a plain hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
