"""Tells an export that this hub wrote for a user from any other: a keyed digest of its lines."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plastic_memories.model.owner import User

KIND = "signature"


class Seal:
    """The digest of an export that is being written or read, line by line.

    What a line says is signed, not how it is spelt: spaces and the order of its fields are free.
    """

    def __init__(self, secret: bytes, user: User) -> None:
        # Whoever else has an account here cannot sign for this user.
        whose = json.dumps(["export", user.tenant_id, user.user_id])
        self._mac = hmac.new(secret, whose.encode(), hashlib.sha256)

    def add(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        self._mac.update(b"\n" + text.encode())

    def line(self) -> dict[str, str]:
        """Return the last line of an export: it signs all before it."""
        return {"kind": KIND, "digest": self._mac.hexdigest()}


def signature(secret: bytes, user: User, lines: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the line that signs these."""
    seal = Seal(secret, user)
    for line in lines:
        seal.add(line)
    return seal.line()


def is_own(secret: bytes, user: User, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether this hub wrote just these lines, the last of them its signature, for a user.

    >>> rows = [{"kind": "memory", "content": "茶"}]
    >>> ann = User("default", "ann")
    >>> is_own(b"s", ann, [*rows, signature(b"s", ann, rows)]), is_own(b"s", ann, rows)
    (True, False)
    """
    if not lines or lines[-1].get("kind") != KIND:
        return False
    try:
        right = signature(secret, user, lines[:-1])["digest"]
    except RecursionError:  # nested deeper than anything we write
        return False
    return hmac.compare_digest(
        str(lines[-1].get("digest")).encode("utf-8", "replace"), right.encode()
    )
