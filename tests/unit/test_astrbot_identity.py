"""The AstrBot plugin without AstrBot and without a hub: who is who, and what is asked."""

from __future__ import annotations

import json
import logging
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from integrations.astrbot.commands import HELP, TEXTS, Command, parse
from integrations.astrbot.identity import (
    get_bot_session_id,
    identity_of,
    persona_name,
)
from integrations.astrbot.options import Filters, Options, options_from

PLUGIN = Path(__file__).parents[2] / "integrations" / "astrbot"
SHARED = Filters(use_bot_isolation=False)


@dataclass
class Event:
    """As much of AstrBot's event as an identity is read from."""

    origin: str = "qq1:FriendMessage:20001"
    self_id: Any = "10001"
    platform: str = "aiocqhttp"
    sender: str = "20001"

    @property
    def unified_msg_origin(self) -> str:
        return self.origin

    def get_self_id(self) -> Any:
        if isinstance(self.self_id, Exception):
            raise self.self_id
        return self.self_id

    def get_platform_name(self) -> str:
        return self.platform

    def get_sender_id(self) -> str:
        return self.sender


def test_a_conversation_is_named_after_bot_platform_type_and_session() -> None:
    assert get_bot_session_id(Event(), True) == "bot_10001:qq1:FriendMessage:20001"


def test_without_isolation_it_has_the_old_form() -> None:
    assert get_bot_session_id(Event(), False) == "qq1:FriendMessage:20001"


def test_a_session_may_hold_colons() -> None:
    who = identity_of(Event("telegram:GroupMessage:-100:42", "my_bot", "telegram"))

    assert (who.platform_id, who.message_type, who.session_id) == (
        "telegram", "GroupMessage", "-100:42",
    )  # fmt: skip
    assert who.is_group


@pytest.mark.parametrize(
    ("platform", "self_id"),
    [
        ("aiocqhttp", ""),
        ("aiocqhttp", None),
        ("discord", "None"),
        ("slack", AttributeError("self_id")),
        ("webchat", "webchat"),
        ("qq_official", "unknown_selfid"),
        ("qq_official", "8801234"),  # whoever was mentioned first
        ("lark", "小助手"),
        ("wecom", "1000002"),  # the first agent of every company
    ],
)
def test_without_a_reliable_id_of_its_own_a_bot_has_that_of_its_adapter(
    platform: str, self_id: Any, caplog: pytest.LogCaptureFixture
) -> None:
    adapter = f"{platform}-{self_id!r}"
    with caplog.at_level(logging.WARNING, "astrbot"):
        key = get_bot_session_id(Event(f"{adapter}:FriendMessage:1", self_id, platform), True)

    assert key == f"bot_{adapter}:{adapter}:FriendMessage:1"
    assert adapter in caplog.text


def test_two_bots_without_ids_stay_two() -> None:
    one = identity_of(Event("first:FriendMessage:1", ""))
    two = identity_of(Event("second:FriendMessage:1", ""))

    assert one.bot_id != two.bot_id


def test_the_same_number_is_another_person_on_another_platform() -> None:
    assert identity_of(Event()).user_id == "aiocqhttp:20001"
    assert identity_of(Event(platform="telegram")).user_id == "telegram:20001"


@pytest.mark.parametrize(
    ("selected", "name"),
    [(None, "default"), ("", "default"), ("_chatui_default_", "default"), ("[%None]", "none"),
     ("猫娘", "猫娘")],
)  # fmt: skip
def test_a_persona_has_one_name_in_all_versions_of_astrbot(selected: str | None, name: str) -> None:
    assert persona_name(selected) == name


def test_names_are_such_as_the_hub_takes() -> None:
    long = identity_of(Event("qq1:GroupMessage:" + "群" * 500 + "\n\x00"))
    other = identity_of(Event("qq1:GroupMessage:" + "群" * 501))

    assert len(long.session_id) <= 200
    assert long.session_id.isprintable()
    assert long.session_id != other.session_id


def test_everything_is_kept_apart_unless_somebody_says_otherwise() -> None:
    assert options_from(None).filters == Filters(True, True, True)
    assert options_from({"filtering_settings": {"use_bot_isolation": False}}).filters == SHARED
    assert str(SHARED) == "bot=off,persona=on,session=on"


def test_the_schema_says_what_the_code_does() -> None:
    schema = json.loads((PLUGIN / "_conf_schema.json").read_text(encoding="utf-8"))

    def defaults(items: dict[str, Any]) -> dict[str, Any]:
        return {
            name: defaults(item["items"]) if item["type"] == "object" else item["default"]
            for name, item in items.items()
        }

    assert options_from(defaults(schema)) == options_from({}) == Options()


def test_a_setting_that_makes_no_sense_keeps_its_default() -> None:
    wrong = {
        "hub": {"url": " 127.0.0.1:9/ ", "api_key": None},
        "recall_settings": {"deadline_ms": "soon", "max_memories": 100_000},
        "filtering_settings": {"use_bot_isolation": "no"},
        "remember_settings": [],
        "language": "fr",
    }

    read = options_from(wrong)

    assert (read.hub_url, read.deadline_s, read.max_memories) == ("http://127.0.0.1:9", 1.2, 100)
    assert (read.filters, read.language, read.api_key) == (Filters(), "zh", "")


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("mem search 咖啡 latte", Command("search", ("咖啡", "latte"))),
        ("/mem 搜索 咖啡", Command("search", ("咖啡",))),
        ("记忆 列表", Command("list")),
        ("mem FORGET #3，4", Command("forget", ("#3，4",))),
        ("mem", Command("help")),
        ("mem dance", Command("help")),
    ],
)
def test_commands_are_read_in_both_languages(message: str, command: Command) -> None:
    assert parse(message) == command


@pytest.mark.parametrize("text", ["3 4", "#3,#4", "3，4", "3、4 五", "#3 4x ＃4"])
def test_numbers_are_found_however_they_are_written(text: str) -> None:
    assert parse(f"mem forget {text}").ids == [3, 4]


def test_both_languages_say_the_same_things() -> None:
    def blanks(texts: Any) -> dict[str, set[str | None]]:
        return {
            name: {part[1] for part in string.Formatter().parse(text)} - {None}
            for name, text in texts.items()
        }

    assert blanks(TEXTS["zh"]) == blanks(TEXTS["en"])


def test_help_names_every_command() -> None:
    for name in ("status", "search", "list", "forget", "confirm", "reset", "help"):
        assert f"/mem {name}" in HELP
