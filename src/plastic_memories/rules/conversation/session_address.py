"""Parse the session ids of bot frameworks into bot, platform, message type and session."""

from __future__ import annotations

from collections.abc import Iterator

from plastic_memories.model.session import BotSessionAddress
from plastic_memories.rules.conversation.session_key import session_key

NO_BOT = "no-bot"
_BOT_PREFIX = "bot_"


def parse_session_address(text: str, platform: str = "") -> BotSessionAddress:
    """Return the address of a framework's id; `platform` replaces the platform it names.

    A framework names the platform adapter ("qq1") where messages have its kind ("aiocqhttp").

    >>> parse_session_address("bot_10001:qq1:GroupMessage:777").session_id
    'qq1:GroupMessage:777'
    >>> parse_session_address("qq1:GroupMessage:-100:42", "aiocqhttp").session_id
    'aiocqhttp:GroupMessage:-100:42'
    >>> parse_session_address("bot_10001"), parse_session_address(NO_BOT).bot_id
    (BotSessionAddress(bot_id='10001', session_id=None, platform='', message_type=''), '')
    """
    bot_id, rest = _split_bot(text)
    if not rest:
        return BotSessionAddress(bot_id)
    named, message_type, session_id = _split_session(rest)
    kind = (platform or named) if named else ""
    key = session_key(session_id, kind, message_type)
    return BotSessionAddress(bot_id, key, kind, message_type)


def candidate_addresses(text: str, platform: str = "") -> list[BotSessionAddress]:
    """Return every address under which rows of an id may be stored, the present one first.

    Earlier versions stored the session without platform and type. Older programs stored the whole
    id as the session, without a bot.

    >>> [address.session_id for address in candidate_addresses("qq1:FriendMessage:7", "aiocqhttp")]
    ['aiocqhttp:FriendMessage:7', 'qq1:FriendMessage:7', '7']
    """
    found = parse_session_address(text, platform)
    if found.session_id is None:
        return [found]
    by_place: dict[tuple[str, str | None], BotSessionAddress] = {}
    for one in _spellings(text, found):
        by_place.setdefault((one.bot_id, one.session_id), one)
    return list(by_place.values())


def _spellings(text: str, found: BotSessionAddress) -> Iterator[BotSessionAddress]:
    bot_id, rest = _split_bot(text)
    message_type, session_id = _split_session(rest)[1:]
    yield found
    yield BotSessionAddress(bot_id, rest, message_type=message_type)
    yield BotSessionAddress(bot_id, session_id, message_type=message_type)
    yield BotSessionAddress("", text, message_type=message_type)


def _split_bot(text: str) -> tuple[str, str]:
    if text == NO_BOT:
        return "", ""
    if not text.startswith(_BOT_PREFIX):
        return "", text
    bot_id, _, rest = text.removeprefix(_BOT_PREFIX).partition(":")
    return bot_id, rest


def _split_session(text: str) -> tuple[str, str, str]:
    """Return platform, message type and session: the session alone, unless all three are there."""
    platform, _, rest = text.partition(":")
    message_type, colon, session_id = rest.partition(":")
    return (platform, message_type, session_id) if colon else ("", "", text)
