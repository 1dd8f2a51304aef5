"""What must always be known: learned from a message at once, not at the next digest."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of, data_lines

_KEYS = regex(any_of("always_known", "keys"))
# In lower case: ignoring case would take twice the time, and every message is searched.
_CUES = regex("|".join(data_lines("always_known_cues")))


def is_always_known(key: str) -> bool:
    """Return whether a memory under this key is needed in every conversation.

    >>> is_always_known("constraint.allergy.seafood"), is_always_known("preference.like.tea")
    (True, False)
    """
    return _KEYS.match(key) is not None


def may_tell_always_known(text: str) -> bool:
    """Return whether it is worth reading a message at once; quick, and rather yes than no.

    >>> may_tell_always_known("我对海鲜过敏😭"), may_tell_always_known("哈哈哈哈")
    (True, False)
    """
    return _CUES.search(text.lower()) is not None
