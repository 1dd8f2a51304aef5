"""The settings of the plugin, as `_conf_schema.json` describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .identity import Identity

_SHARED_PERSONA = "default"


@dataclass(frozen=True)
class Filters:
    """What separates memories from each other."""

    use_bot_isolation: bool = True
    use_persona_filtering: bool = True
    use_session_filtering: bool = True

    def __str__(self) -> str:
        on = {
            "bot": self.use_bot_isolation,
            "persona": self.use_persona_filtering,
            "session": self.use_session_filtering,
        }
        return ",".join(f"{name}={'on' if value else 'off'}" for name, value in on.items())


@dataclass(frozen=True)
class Options:
    hub_url: str = "http://127.0.0.1:8007"
    api_key: str = ""
    language: str = "zh"
    deadline_s: float = 1.2
    budget_tokens: int = 1000
    max_memories: int = 10
    remember: bool = True
    remember_untriggered: bool = False
    filters: Filters = Filters()

    def persona_of(self, identity: Identity) -> str:
        """Return the persona whose memory is used; without the filter all personas share one."""
        return identity.persona_id if self.filters.use_persona_filtering else _SHARED_PERSONA

    def may_show(self, identity: Identity) -> bool:
        """Return whether memories may be shown here: a group must not see private ones."""
        return self.filters.use_session_filtering or not identity.is_group


def options_from(config: Mapping[str, Any] | None) -> Options:
    """Parse a configuration; a missing or invalid value keeps its default."""
    given = config or {}
    default = Options()
    hub, recall = _section(given, "hub"), _section(given, "recall_settings")
    remember, filters = _section(given, "remember_settings"), _section(given, "filtering_settings")
    url = str(hub.get("url") or default.hub_url).strip().rstrip("/")
    language = str(given.get("language") or default.language)
    return Options(
        hub_url=url if "://" in url else f"http://{url}",
        api_key=str(hub.get("api_key") or "").strip(),
        language=language if language in ("zh", "en") else default.language,
        deadline_s=_whole(recall, "deadline_ms", 1200, (50, 30_000)) / 1000,
        budget_tokens=_whole(recall, "budget_tokens", default.budget_tokens, (50, 100_000)),
        max_memories=_whole(recall, "max_memories", default.max_memories, (1, 100)),
        remember=_flag(remember, "enabled", default.remember),
        remember_untriggered=_flag(remember, "group_messages_without_reply", False),
        filters=Filters(
            use_bot_isolation=_flag(filters, "use_bot_isolation", True),
            use_persona_filtering=_flag(filters, "use_persona_filtering", True),
            use_session_filtering=_flag(filters, "use_session_filtering", True),
        ),
    )


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _flag(section: Mapping[str, Any], name: str, default: bool) -> bool:
    value = section.get(name)
    return value if isinstance(value, bool) else default


def _whole(section: Mapping[str, Any], name: str, default: int, within: tuple[int, int]) -> int:
    try:
        value = int(section.get(name, default))
    except (TypeError, ValueError):
        return default
    return min(max(value, within[0]), within[1])
