"""Memory keys: one key per topic, whichever language it was stated in."""

from __future__ import annotations

import re
import unicodedata

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import word_groups

_SLUG_LENGTH = 40
_NOT_WORD = regex(r"[^\w]+")
_ARTICLE = regex(r"^(?:the|a|an|my|some|all|any|all kinds of)\s+", re.IGNORECASE)

# Words for one thing in both languages; the first is the part of the key.
_SLUGS = {word: part for part, words in word_groups("topics").items() for word in words.split("|")}


def slug(text: str) -> str:
    """Return the part of a key for a value, the same in both languages.

    >>> slug("海鲜"), slug("Sea food"), slug("peanuts"), slug("老上海的弄堂")
    ('seafood', 'sea_food', 'peanut', '老上海的弄堂')
    """
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    plain = _ARTICLE.sub("", plain)
    if plain in _SLUGS:
        return _SLUGS[plain]
    return _NOT_WORD.sub("_", plain).strip("_")[:_SLUG_LENGTH].strip("_") or "other"


def is_known_thing(text: str) -> bool:
    """Return whether this is one of the things that have a name in both languages."""
    return slug(text) in _SLUGS.values()


_ADDITIVE_WISH = regex(r"^(?:不要|别|少|不用|多|do not|never|no |stop|avoid|use )")


def style_key(value: str) -> str:
    """Return the key of a reply-style wish: one general style, any number of dos and don'ts.

    >>> style_key("简洁"), style_key("别太长")
    ('preference.reply_style', 'preference.reply_style.别太长')
    """
    return (
        f"preference.reply_style.{slug(value)}"
        if _ADDITIVE_WISH.match(value)
        else "preference.reply_style"
    )


_OPPOSITES = (("preference.like.", "preference.dislike."),)


def opposite_key(key: str) -> str | None:
    """Return the contradicting key: a like ends a dislike of the same thing."""
    for one, other in _OPPOSITES:
        if key.startswith(one):
            return other + key[len(one) :]
        if key.startswith(other):
            return one + key[len(other) :]
    return None


FAVORITES = {
    word: part for part, words in word_groups("favorites").items() for word in words.split("|")
}


def favorite_key(category: str) -> str:
    """Return the key of a favourite in a category.

    >>> favorite_key("颜色"), favorite_key("colour"), favorite_key("ice cream")
    ('preference.favorite_color', 'preference.favorite_color', 'preference.favorite_ice_cream')
    """
    plain = category.strip().lower()
    return f"preference.favorite_{FAVORITES.get(plain) or slug(plain)}"
