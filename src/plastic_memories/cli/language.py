"""The language of the command line: Chinese where the person's system is, else English."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

# The first that is set decides; the names after our own are those of POSIX.
_VARIABLES = ("PLASTIC_MEMORIES_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def tr(english: str, **values: object) -> str:
    """Return a text in the person's language, with its values filled in.

    A text without a translation stays English; a test looks for such texts.
    """
    text = _chinese().get(english, english) if person_language() == "zh" else english
    return text.format(**values) if values else text


def person_language() -> str:
    """Return the language of the person at the keyboard: `zh` or `en`."""
    # Not from the settings: loading them takes longer than `--help` may.
    values = (os.environ.get(name, "") for name in _VARIABLES)  # noqa: TID251
    name = next((value for value in values if value), "")
    return "zh" if name.lower().startswith("zh") else "en"


@cache
def _chinese() -> Mapping[str, str]:
    file = files("plastic_memories.cli").joinpath("messages.zh.toml")
    messages: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))
    return messages
