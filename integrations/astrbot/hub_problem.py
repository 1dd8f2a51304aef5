"""Why the hub cannot be used: one word for members, the whole story for the operator."""

from __future__ import annotations

from typing import Any

# What the operator can mend: the same request succeeds afterwards.
_SETTINGS = frozenset({"no_key", "bad_address", "not_a_hub", "not_an_app_key", "unauthorized"})
_PASSING = frozenset({"unreachable", "unavailable", "rate_limited", "internal_error"}) | _SETTINGS
_MAKE_KEY = "plastic-memories keys create --app-key --app astrbot --label astrbot"

_CHINESE = {
    "no_key": f"还没有填写密钥。请用 {_MAKE_KEY} 生成应用密钥，填进插件设置。",
    "unauthorized": "记忆中枢不认识这个密钥。请检查插件设置里的应用密钥是否完整、是否已被吊销。",
    "not_an_app_key": "配置的密钥属于某一个用户，不能代表所有发送者。请在插件设置里填写应用密钥。",
    "bad_address": "记忆中枢的地址不是有效的网址：{url}",
    "not_a_hub": "{url} 有应答，但不是记忆中枢。请检查插件设置里的地址。",
    "unreachable": "连不上记忆中枢 {url}。它在运行吗（plastic-memories serve）？地址对吗？",
}
_ENGLISH = {
    "no_key": f"No key yet. Make an app key with {_MAKE_KEY}, and put it into the settings.",
    "unauthorized": "The hub does not know this key. Is it complete, or was it revoked?",
    "not_an_app_key": "The configured key belongs to one user and cannot speak for every sender."
    " Put an app key into the settings.",
    "bad_address": "The address of the hub is no valid one: {url}",
    "not_a_hub": "{url} answers, but is no hub. Check the address in the settings.",
    "unreachable": "The hub {url} cannot be reached. Is it running (plastic-memories serve), and is"
    " the address right?",
}
EXPLANATIONS = {"zh": _CHINESE, "en": _ENGLISH}


class HubProblem(Exception):
    """The hub cannot be reached, or refuses; `code` is the hub's error code."""

    def __init__(self, code: str, message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail

    @property
    def is_passing(self) -> bool:
        """Return whether the same request may succeed later."""
        return self.code in _PASSING

    def explanation(self, language: str, url: str) -> str:
        """Return for the operator what is wrong and what helps."""
        text = EXPLANATIONS[language].get(self.code)
        return text.format(url=url) if text else f"{self} ({self.code})"
