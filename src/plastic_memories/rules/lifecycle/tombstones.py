"""Tombstones of forgotten memories: keyed digests that block relearning without revealing text."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from itertools import islice, product

from plastic_memories.language.text.chinese_variants import restore_script
from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.transitions import comparable_value, value_as_written
from plastic_memories.rules.lifecycle.user_facts import home_of

# The reason a caller reads for a draft that a tombstone covers.
NEVER_AGAIN = "forgotten, never again"
# Four characters with two spellings each.
_MAX_SPELLINGS = 16


@dataclass(frozen=True, slots=True)
class TombstoneDigests:
    """The digests of one memory: of key and value, and of the key alone.

    A profile key holds one value, so its key digest is stored as well: it also blocks the same fact
    in other words.

    Key and value are converted to simplified characters first, to block both scripts. Older
    releases digested the value as written, and keys with some characters as written:
    `legacy_digests` still match those.
    """

    value_digest: str
    key_digest: str
    covers_key: bool
    legacy_digests: tuple[str, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests to store."""
        return (self.value_digest, self.key_digest) if self.covers_key else (self.value_digest,)

    @property
    def lookup_digests(self) -> tuple[str, ...]:
        """The digests to look up, and to delete on request."""
        return (*self.digests, *self.legacy_digests)


def tombstone_digests(secret: bytes, owner: Owner, memory: Memory | Draft) -> TombstoneDigests:
    home = home_of(owner, memory)
    current, *legacy = _spelling_variants(memory)
    covers_key = memory.type is MemoryType.PROFILE
    legacy_keys = dict.fromkeys(key for key, _ in legacy if key != current[0]) if covers_key else ()
    # Older releases stored user facts, and their tombstones, for each persona.
    older = [(current[0], current[1]), (memory.key,)] if home != owner else []
    return TombstoneDigests(
        value_digest=_keyed_digest(secret, home, memory.type, *current),
        key_digest=_keyed_digest(secret, home, memory.type, memory.key),
        covers_key=covers_key,
        legacy_digests=(
            *(_keyed_digest(secret, owner, memory.type, *parts) for parts in older),
            *(_keyed_digest(secret, owner, memory.type, *spelling) for spelling in legacy),
            *(_keyed_digest(secret, owner, memory.type, key) for key in legacy_keys),
        ),
    )


def _spelling_variants(memory: Memory | Draft) -> list[tuple[str, str]]:
    """Return the current spelling of key and value, then all spellings of older releases."""
    written = restore_script(memory.key, memory.content)
    choices = [
        (plain,) if plain == char else (plain, char)
        for plain, char in zip(memory.key, written, strict=True)
    ]
    keys = ("".join(chars) for chars in product(*choices))
    values = dict.fromkeys((comparable_value(memory), value_as_written(memory)))
    return [(key, value) for key in islice(keys, _MAX_SPELLINGS) for value in values]


def _keyed_digest(secret: bytes, owner: Owner, *parts: str) -> str:
    # JSON separates the parts: ("a", "bc") and ("ab", "c") must not collide.
    text = json.dumps([owner.tenant_id, owner.user_id, owner.persona_id, *parts])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
