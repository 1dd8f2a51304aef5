"""The documents are complete, current, and lead nowhere that does not exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.generate import PAGES, ROOT
from docs.generator import cli, settings
from docs.generator.errors import meanings
from docs.generator.openapi import openapi
from docs.generator.plugins import PROTOCOLS
from docs.requests import REQUESTS

from plastic_memories import __version__, errors
from plastic_memories.plugins import COMPANIONS, PORTS
from plastic_memories.settings import Settings

_SKIPPED = {".venv", ".clients", ".test_tmp", "node_modules", "build", "dist", ".pytest_cache"}
_FENCE = re.compile(r"^(```+)(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
READMES = ("README.md", "README.zh-CN.md")


def _documents() -> list[Path]:
    found = (path for path in ROOT.rglob("*.md") if path.is_file())
    return sorted(p for p in found if not _SKIPPED & set(p.relative_to(ROOT).parts))


def _read(name: str) -> str:
    return _text(ROOT / name)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _prose(text: str) -> str:
    return _FENCE.sub("", text)


def _anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, made as GitHub makes them."""
    titles = (match[2] for match in _HEADING.finditer(_prose(text)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def _broken(document: Path) -> Iterator[str]:
    for link in _LINK.findall(_prose(_text(document))):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or (anchor and anchor not in _anchors(_text(target))):
            yield link


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    written = _text(ROOT / name).splitlines()
    current = PAGES[name]().splitlines()

    assert written == current, f"{name} is stale; run: make docs"


def test_every_setting_is_explained() -> None:
    assert settings.explained() == set(Settings.model_fields)


def test_every_route_is_documented() -> None:
    page = _read("docs/reference/api.md")

    routes = [(path, method) for path, item in openapi()["paths"].items() for method in item]
    missing = [route for route in routes if f"### `{route[1].upper()} {route[0]}`" not in page]

    assert missing == []
    assert all(f"`{name}`" in page for name in ("GET /", "GET /docs", "WS /ws/events"))


def test_every_route_has_an_example() -> None:
    shown = {(example.path.partition("?")[0], example.method) for example in REQUESTS}

    routes = {
        (path, method.upper()) for path, item in openapi()["paths"].items() for method in item
    }

    assert routes - shown == set()


def test_every_error_code_is_documented() -> None:
    page = _read("docs/reference/errors.md")
    kinds = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}

    codes = {kind.code for kind in kinds.values() if issubclass(kind, errors.PlasticMemoriesError)}

    assert [code for code in codes if f"`{code}`" not in page] == []
    assert set(meanings()) == {n for n in kinds if n not in ("Any", "PlasticMemoriesError")}


def test_every_command_is_documented() -> None:
    page = _read("docs/reference/cli.md")

    paths = [context.command_path for context in cli.commands()]

    assert [path for path in paths if f"## {path}\n" not in page] == []


def test_every_port_is_documented() -> None:
    page = _read("docs/reference/plugins.md")

    assert set(PROTOCOLS) == set(PORTS) | set(COMPANIONS)
    assert all(f"PLASTIC_MEMORIES_{variable}" in page for variable in PORTS.values())


def test_there_are_documents() -> None:
    assert ROOT / "README.md" in _documents()


@pytest.mark.parametrize("document", _documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    assert list(_broken(document)) == []


def test_both_readmes_have_the_same_structure() -> None:
    levels = [[match[1] for match in _HEADING.finditer(_prose(_read(name)))] for name in READMES]

    assert levels[0] == levels[1]


def test_both_readmes_show_the_same_kinds_of_code() -> None:
    kinds = [
        [match[2].partition("\n")[0] for match in _FENCE.finditer(_read(name))] for name in READMES
    ]

    assert kinds[0] == kinds[1]


def test_every_door_has_its_page_in_both_languages() -> None:
    doors = ROOT / "docs" / "doors"
    english = {page.name for page in doors.glob("*.md") if not page.name.endswith(".zh-CN.md")}

    chinese = {page.name.replace(".zh-CN.md", ".md") for page in doors.glob("*.zh-CN.md")}

    assert english == chinese


def test_the_changelog_has_a_section_for_this_release() -> None:
    titles = [match[2] for match in _HEADING.finditer(_read("CHANGELOG.md"))]

    assert "[Unreleased]" in titles
    assert any(title.startswith(f"[{__version__}]") for title in titles)


@pytest.mark.parametrize("name", READMES)
def test_the_settings_a_readme_names_exist(name: str) -> None:
    client = {"API_KEY", "URL", "USER", "PERSONA", "CONFIG"}

    named = set(re.findall(r"PLASTIC_MEMORIES_([A-Z_]+)", _read(name)))

    assert named <= {field.upper() for field in Settings.model_fields} | client


@pytest.mark.parametrize("name", READMES)
def test_the_make_targets_a_readme_names_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", _read("Makefile"), re.MULTILINE))

    assert set(re.findall(r"\bmake ([a-z]+)", _read(name))) <= targets


def test_requirements_install_the_hub() -> None:
    lines = [line for line in _read("requirements.txt").splitlines() if not line.startswith("#")]

    assert lines == ["."]
    assert "project" in tomllib.loads(_read("pyproject.toml"))


def test_every_test_that_the_security_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", _read("docs/security.md")))
    written = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))
    }

    assert len(named) > 20
    assert named - written == set()
