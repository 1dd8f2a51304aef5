"""Parse the session ids of bot frameworks into bot and session."""

from __future__ import annotations

from plastic_memories.model.session import BotSessionAddress

_BOT_PREFIX = "bot_"


def parse_session_address(text: str) -> BotSessionAddress:
    """Return the bot and the session of a framework's id.

    >>> parse_session_address("bot_10001:qq1:GroupMessage:777")
    BotSessionAddress(bot_id='10001', session_id='777')
    >>> parse_session_address("qq1:GroupMessage:-100:42")
    BotSessionAddress(bot_id='', session_id='-100:42')
    >>> parse_session_address("bot_10001")
    BotSessionAddress(bot_id='10001', session_id=None)
    """
    bot_id, rest = "", text
    if text.startswith(_BOT_PREFIX):
        bot_id, _, rest = text.removeprefix(_BOT_PREFIX).partition(":")
        if not rest:
            return BotSessionAddress(bot_id)
    parts = rest.split(":", 2)
    return BotSessionAddress(bot_id, parts[-1] if len(parts) == 3 else rest)  # noqa: PLR2004 - platform:type:session


def candidate_addresses(text: str) -> list[BotSessionAddress]:
    """Return every address under which rows of an id may be stored.

    Older programs stored the whole id as the session, without a bot.

    >>> [address.session_id for address in candidate_addresses("qq1:FriendMessage:7")]
    ['7', 'qq1:FriendMessage:7']
    """
    found = parse_session_address(text)
    whole = BotSessionAddress("", text)
    return [found] if found.session_id is None or found == whole else [found, whole]
