"""Identify sender, bot and conversation from an AstrBot event, each part separately."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from functools import cache
from typing import Any

logger = logging.getLogger("astrbot")
# On these platforms `get_self_id()` is a constant, a nickname, a number that other companies use as
# well, or it differs from message to message.
_UNSTEADY_SELF_ID = frozenset(
    {"webchat", "qq_official", "qq_official_webhook", "lark", "line", "wecom", "wecom_ai_bot"}
)
_PLACEHOLDERS = frozenset(
    {"", "none", "n/a", "unknown", "unknown_selfid", "qq_official", "webchat"}
)
_LONGEST = 200  # the longest name in the hub
_GROUP = "GroupMessage"


@dataclass(frozen=True)
class Identity:
    """One sender, one bot, one conversation; the hub stores each part in its own column."""

    bot_id: str
    bot_id_is_the_adapters: bool  # the platform did not give the bot's own id
    platform: str  # the kind of platform: aiocqhttp, telegram, ...
    platform_id: str  # the configured adapter: there may be several of one kind
    message_type: str
    session_id: str
    sender_id: str
    persona_id: str = "default"

    @property
    def user_id(self) -> str:
        """Return the user id: number 10001 of one platform is another person on the next."""
        return _name(f"{self.platform}:{self.sender_id}")

    @property
    def is_group(self) -> bool:
        return self.message_type == _GROUP

    def key(self, *, use_bot_isolation: bool) -> str:
        """Return the id of the conversation for logs and `/mem status`."""
        plain = f"{self.platform_id}:{self.message_type}:{self.session_id}"
        return f"bot_{self.bot_id}:{plain}" if use_bot_isolation else plain


def identity_of(event: Any, persona_id: str = "") -> Identity:
    """Return the identity of an event; two bots never get the same id, whatever is missing."""
    platform_id, message_type, session_id = split_origin(event.unified_msg_origin)
    platform = str(event.get_platform_name() or platform_id)
    self_id = _self_id(event)
    steady = platform not in _UNSTEADY_SELF_ID and self_id.casefold() not in _PLACEHOLDERS
    return Identity(
        bot_id=_name(self_id if steady else platform_id),
        bot_id_is_the_adapters=not steady,
        platform=_name(platform),
        platform_id=_name(platform_id),
        message_type=_name(message_type),
        session_id=_name(session_id),
        sender_id=_name(str(event.get_sender_id() or "")),
        persona_id=_name(persona_id) or "default",
    )


def get_bot_session_id(event: Any, use_bot_isolation: bool = True) -> str:
    """Return the id of a conversation: `bot_{id}:{platform}:{type}:{session}`.

    Without isolation it is AstrBot's own `{platform}:{type}:{session}`, as in older plugins. With
    isolation and without a bot id it names the platform adapter instead, and logs that.
    """
    identity = identity_of(event)
    if use_bot_isolation and identity.bot_id_is_the_adapters:
        _say_once(identity.platform, identity.bot_id)
    return identity.key(use_bot_isolation=use_bot_isolation)


def persona_name(selected: str | None) -> str:
    """Return the hub's name for AstrBot's persona, the same in all its versions."""
    if selected == "[%None]":
        return "none"
    return "default" if selected in (None, "", "_chatui_default_") else selected


def split_origin(origin: str) -> tuple[str, str, str]:
    """Split `platform:type:session` from the left: a session may contain colons.

    >>> split_origin("telegram:GroupMessage:-100:42")
    ('telegram', 'GroupMessage', '-100:42')
    """
    platform_id, _, rest = str(origin).partition(":")
    message_type, _, session_id = rest.partition(":")
    return platform_id, message_type, session_id


@cache
def _say_once(platform: str, adapter: str) -> None:
    logger.warning(
        "[plastic_memories] %s 没有可靠的机器人 ID，改用适配器 ID %s / no reliable bot id: "
        "the adapter's own is used",
        platform,
        adapter,
    )


def _self_id(event: Any) -> str:
    try:
        return str(event.get_self_id() or "").strip()
    except AttributeError:  # some adapters leave the field out altogether
        return ""


def _name(text: str) -> str:
    """Return a valid name for the hub; one that is too long is shortened with its digest."""
    clean = "".join(sign for sign in text if sign.isprintable()).strip()
    if len(clean) <= _LONGEST:
        return clean
    return f"{clean[:150]}~{hashlib.sha256(clean.encode()).hexdigest()[:32]}"
