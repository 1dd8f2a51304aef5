"""The one id under which a conversation is stored: platform, message type and session."""

from __future__ import annotations

import hashlib

_MAX_CHARS = 200  # of a name in the hub
_MAX_PART_CHARS = 60
_DIGEST_CHARS = 32


def session_key(session_id: str, platform: str = "", message_type: str = "") -> str:
    """Return the id of a session that no other platform or message type shares.

    Group 7 and the private chat with user 7 are two conversations; every comparison of sessions
    compares this key. A program that names no platform has session ids of its own making, which
    no two chats share, and need not name the type with each request.

    >>> session_key("7", "qq", "GroupMessage"), session_key("7", "qq", "FriendMessage")
    ('qq:GroupMessage:7', 'qq:FriendMessage:7')
    >>> session_key("tavern-1", "", "private"), session_key("", "qq", "GroupMessage")
    ('tavern-1', '')
    """
    if not session_id:
        return ""
    prefix = _prefix(platform, message_type)
    return prefix + _shorten(session_id, _MAX_CHARS - len(prefix))


def plain_session_id(key: str, platform: str = "", message_type: str = "") -> str:
    """Return the caller's own session id of a key.

    >>> plain_session_id("qq:GroupMessage:-100:42", "qq", "GroupMessage")
    '-100:42'
    """
    return key.removeprefix(_prefix(platform, message_type))


def _prefix(platform: str, message_type: str) -> str:
    return f"{_part(platform)}:{_part(message_type)}:" if platform else ""


def _part(text: str) -> str:
    # Without a colon of its own, or `a:b` and `c` would be `a` and `b:c`.
    return _shorten(text.replace("%", "%25").replace(":", "%3A"), _MAX_PART_CHARS)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{text[: limit - _DIGEST_CHARS - 1]}~{digest}"
