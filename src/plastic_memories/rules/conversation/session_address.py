"""Reads the ids that bot frameworks give to conversations."""

from __future__ import annotations

from plastic_memories.model.rekey import Address

_BOT = "bot_"


def address_of(text: str) -> Address:
    """Return where rows of an id are stored: bot and session each for itself.

    >>> address_of("bot_10001:qq1:GroupMessage:777")
    Address(bot_id='10001', session_id='777')
    >>> address_of("qq1:GroupMessage:-100:42")
    Address(bot_id='', session_id='-100:42')
    >>> address_of("bot_10001")
    Address(bot_id='10001', session_id=None)
    """
    bot_id, rest = "", text
    if text.startswith(_BOT):
        bot_id, _, rest = text.removeprefix(_BOT).partition(":")
        if not rest:
            return Address(bot_id)
    parts = rest.split(":", 2)
    return Address(bot_id, parts[-1] if len(parts) == 3 else rest)  # noqa: PLR2004 - its form


def old_addresses(text: str) -> list[Address]:
    """Return every place where rows of an id may stand.

    Older programs have put the whole id into the session, and named no bot.

    >>> old_addresses("qq1:FriendMessage:7")
    [Address(bot_id='', session_id='7'), Address(bot_id='', session_id='qq1:FriendMessage:7')]
    """
    found = address_of(text)
    whole = Address("", text)
    return [found] if found.session_id is None or found == whole else [found, whole]
