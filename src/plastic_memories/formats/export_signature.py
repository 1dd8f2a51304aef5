"""Sign exports with a keyed digest, to recognise those that this hub wrote for a user."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plastic_memories.model.owner import User

KIND = "signature"


class ExportSigner:
    """A running digest over the lines of an export.

    It signs the content of a line, not its spelling: white space and field order are free.
    """

    def __init__(self, secret: bytes, user: User) -> None:
        # Bound to the user, so that no other account can sign for them.
        whose = json.dumps(["export", user.tenant_id, user.user_id])
        self._mac = hmac.new(secret, whose.encode(), hashlib.sha256)

    def add(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        self._mac.update(b"\n" + text.encode())

    def line(self) -> dict[str, str]:
        """Return the signature, which is the last line of an export."""
        return {"kind": KIND, "digest": self._mac.hexdigest()}


def signature(secret: bytes, user: User, lines: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the signature line for these lines."""
    seal = ExportSigner(secret, user)
    for line in lines:
        seal.add(line)
    return seal.line()


def is_own(secret: bytes, user: User, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether this hub signed exactly these lines for this user; the last is the signature.

    >>> rows = [{"kind": "memory", "content": "茶"}]
    >>> ann = User("default", "ann")
    >>> is_own(b"s", ann, [*rows, signature(b"s", ann, rows)]), is_own(b"s", ann, rows)
    (True, False)
    """
    check = SignatureCheck(secret, user)
    for line in lines:
        check.add(line)
    return check.is_own


class SignatureCheck:
    """Reads the lines of an export one by one; the last one must sign all others."""

    def __init__(self, secret: bytes, user: User) -> None:
        self._seal = ExportSigner(secret, user)
        self._last: Mapping[str, Any] | None = None
        self._is_deep = False

    def add(self, line: Mapping[str, Any]) -> None:
        last, self._last = self._last, line
        if last is None:
            return
        try:
            self._seal.add(last)
        except RecursionError:  # nested deeper than anything we write
            self._is_deep = True

    @property
    def is_own(self) -> bool:
        if self._last is None or self._is_deep or self._last.get("kind") != KIND:
            return False
        given = str(self._last.get("digest")).encode("utf-8", "replace")
        return hmac.compare_digest(given, self._seal.line()["digest"].encode())
