"""The command line in the person's own language."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from string import Formatter

import pytest
from click.testing import CliRunner

import plastic_memories.cli as package
from plastic_memories.cli.language import person_language, tr
from plastic_memories.cli.main import COMMANDS, main

CLI = Path(package.__file__).parent
CHINESE = tomllib.loads((CLI / "messages.zh.toml").read_text(encoding="utf-8"))


def translated_texts() -> set[str]:
    """Every text that is handed to `tr` as it stands."""
    calls = [
        node
        for file in CLI.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr"
    ]
    first = [call.args[0] for call in calls if call.args]
    return {arg.value for arg in first if isinstance(arg, ast.Constant)}


def fields_of(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_every_text_has_a_translation() -> None:
    summaries = {summary for _, summary in COMMANDS.values()}

    assert translated_texts() | summaries <= CHINESE.keys()


@pytest.mark.parametrize("english", CHINESE)
def test_a_translation_names_the_same_values(english: str) -> None:
    assert fields_of(CHINESE[english]) == fields_of(english)


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "PLASTIC_MEMORIES_LANGUAGE": "zh"}, "zh"),
        ({"LANG": "C"}, "en"),
        ({}, "en"),
    ],
)
def test_the_system_says_which_language(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], language: str
) -> None:
    for name in ("PLASTIC_MEMORIES_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert person_language() == language


def test_the_list_of_commands_is_in_chinese_for_chinese_speakers() -> None:
    shown = CliRunner(env={"PLASTIC_MEMORIES_LANGUAGE": "zh"}).invoke(main, ["--help"])

    assert "记下一句话。" in shown.output
    assert "Remember a text." not in shown.output


def test_a_text_without_translation_stays_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLASTIC_MEMORIES_LANGUAGE", "zh")

    assert tr("no such text {n}", n=1) == "no such text 1"
