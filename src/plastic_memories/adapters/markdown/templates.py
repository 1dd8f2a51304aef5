"""Persona templates: folders of Markdown files, and character cards."""

from __future__ import annotations

import json
from pathlib import Path, PureWindowsPath
from typing import Any

from plastic_memories.errors import TemplateError
from plastic_memories.formats.card_memories import card_template
from plastic_memories.formats.character_card import read_card
from plastic_memories.model.persona import Template

_MAX_BYTES = 256 * 1024
_MAX_CARD_BYTES = 8 * 1024 * 1024
_CARD_SUFFIXES = (".png", ".json")
# Callers may give the path of a template in the repository.
_OPTIONAL_PREFIX = "personas"


class TemplateFolder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def load(self, path: str) -> Template:
        try:
            return self._load(path)
        except OSError as error:  # e.g. a name too long for the disk, or an unreadable folder
            raise TemplateError(f"The template cannot be read: {error.strerror}.") from error

    def _load(self, path: str) -> Template:
        folder = self._resolve_path(path)
        if folder.is_file():
            return self._load_card(folder)
        persona_md = self._read_text(folder / "persona.md")
        if persona_md is None:
            raise TemplateError("The template has no persona.md.")
        return Template(
            path=self._template_name(folder),
            persona_md=persona_md,
            rules_md=self._read_text(folder / "rules.md") or "",
            preferences=_parse_preferences(self._read_text(folder / "preferences.json")),
        )

    def names(self) -> list[str]:
        if not self._root.is_dir():
            return []
        folders = [file.parent.name for file in self._root.glob("*/persona.md")]
        cards = [
            file.name for file in self._root.iterdir() if file.suffix.lower() in _CARD_SUFFIXES
        ]
        return sorted([*folders, *cards])

    def _template_name(self, place: Path) -> str:
        return place.relative_to(self._root.resolve()).as_posix()

    def _load_card(self, file: Path) -> Template:
        if file.stat().st_size > _MAX_CARD_BYTES:
            raise TemplateError(f"{file.name} is larger than {_MAX_CARD_BYTES} bytes.")
        # A template is only the character; memories of a card need an explicit import.
        card, _ = read_card(file.read_bytes())
        return card_template(self._template_name(file), card)

    def _resolve_path(self, path: str) -> Path:
        parts = PureWindowsPath(path.strip()).parts  # splits at / and \ on every system
        if parts and parts[0] == _OPTIONAL_PREFIX:
            parts = parts[1:]
        # Windows rules apply everywhere: a template path must mean the same on every system.
        if not parts or PureWindowsPath(path).drive or PureWindowsPath(path).root:
            raise TemplateError("template_path must be a relative path below the template root.")
        root = self._root.resolve()
        folder = root.joinpath(*parts).resolve()
        if ".." in parts or not folder.is_relative_to(root):
            raise TemplateError("template_path leaves the template root.")
        is_card = folder.is_file() and folder.suffix.lower() in _CARD_SUFFIXES
        if not (folder.is_dir() or is_card):
            raise TemplateError("There is no such template folder or card.")
        return folder

    def _read_text(self, file: Path) -> str | None:
        if not file.is_file():
            return None
        if not file.resolve().is_relative_to(self._root.resolve()):
            raise TemplateError("A file of the template lies outside the template root.")
        if file.stat().st_size > _MAX_BYTES:
            raise TemplateError(f"{file.name} is larger than {_MAX_BYTES} bytes.")
        try:
            # utf-8-sig drops the byte order mark that some editors write.
            return file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise TemplateError(f"{file.name} is not UTF-8 text.") from None


def _parse_preferences(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        raise TemplateError("preferences.json is not valid JSON.") from None
    if not isinstance(found, dict):
        raise TemplateError("preferences.json must be an object.")
    return found
