"""Reads the ids that bot frameworks give to conversations."""

from __future__ import annotations

from plastic_memories.model.session import BotSessionAddress

_BOT_PREFIX = "bot_"


def parse_session_address(text: str) -> BotSessionAddress:
    """Return where rows of an id are stored: bot and session each for itself.

    >>> parse_session_address("bot_10001:qq1:GroupMessage:777")
    Address(bot_id='10001', session_id='777')
    >>> parse_session_address("qq1:GroupMessage:-100:42")
    Address(bot_id='', session_id='-100:42')
    >>> parse_session_address("bot_10001")
    Address(bot_id='10001', session_id=None)
    """
    bot_id, rest = "", text
    if text.startswith(_BOT_PREFIX):
        bot_id, _, rest = text.removeprefix(_BOT_PREFIX).partition(":")
        if not rest:
            return BotSessionAddress(bot_id)
    parts = rest.split(":", 2)
    return BotSessionAddress(bot_id, parts[-1] if len(parts) == 3 else rest)  # noqa: PLR2004 - its form


def candidate_addresses(text: str) -> list[BotSessionAddress]:
    """Return every place where rows of an id may stand.

    Older programs have put the whole id into the session, and named no bot.

    >>> candidate_addresses("qq1:FriendMessage:7")
    [Address(bot_id='', session_id='7'), Address(bot_id='', session_id='qq1:FriendMessage:7')]
    """
    found = parse_session_address(text)
    whole = BotSessionAddress("", text)
    return [found] if found.session_id is None or found == whole else [found, whole]
