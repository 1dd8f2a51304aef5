"""Marks of what must never be learned again: keyed digests that give nothing away."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from itertools import islice, product

from plastic_memories.language.text.chinese_variants import as_written
from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.transitions import value_of, written_value

# Four characters that may have been left as they were, or not.
_MOST_SPELLINGS = 16


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one remembered thing, and the mark of its key.

    One mark is over key and value. The keys of a profile hold one value each, so there the mark
    of the key alone is set as well: the same thing in other words is stopped too.

    Key and value are marked in simplified characters, so that they are stopped in both scripts.
    Marks of older releases are over the value as it was written, and over keys in which some
    characters were left as written: they hold as long as they are looked for.
    """

    of_value: str
    of_key: str
    covers_key: bool
    formerly: tuple[str, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        """What is stored."""
        return (self.of_value, self.of_key) if self.covers_key else (self.of_value,)

    @property
    def sought(self) -> tuple[str, ...]:
        """What is looked for, and lifted."""
        return (*self.digests, *self.formerly)


def marks_of(secret: bytes, owner: Owner, memory: Memory | Draft) -> Marks:
    now, *formerly = _spelled(memory)
    covers_key = memory.type is MemoryType.PROFILE
    former_keys = dict.fromkeys(key for key, _ in formerly if key != now[0]) if covers_key else ()
    return Marks(
        of_value=_digest(secret, owner, memory.type, *now),
        of_key=_digest(secret, owner, memory.type, memory.key),
        covers_key=covers_key,
        formerly=(
            *(_digest(secret, owner, memory.type, *each) for each in formerly),
            *(_digest(secret, owner, memory.type, key) for key in former_keys),
        ),
    )


def _spelled(memory: Memory | Draft) -> list[tuple[str, str]]:
    """Return key and value as they are marked now, then all ways in which they once were."""
    written = as_written(memory.key, memory.content)
    choices = [
        (plain,) if plain == char else (plain, char)
        for plain, char in zip(memory.key, written, strict=True)
    ]
    keys = ("".join(chars) for chars in product(*choices))
    values = dict.fromkeys((value_of(memory), written_value(memory)))
    return [(key, value) for key in islice(keys, _MOST_SPELLINGS) for value in values]


def _digest(secret: bytes, owner: Owner, *parts: str) -> str:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must not meet.
    text = json.dumps([owner.tenant_id, owner.user_id, owner.persona_id, *parts])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
