"""The names of the code: one meaning each, in the words of the trade."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PACKAGE = Path(__file__).parents[2] / "src" / "plastic_memories"
SOURCES = sorted(PACKAGE.rglob("*.py"))
MOST_MODULES = 15
NAMED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FORBIDDEN_OPENINGS = re.compile(r"(?:Say whether|Tell|Whether)\b")

# Public classes that share their name, and why they may.
SHARED_CLASS_NAMES: dict[str, str] = {}

# What the hub is about: each theme has its routes, its bodies, its use cases, its wiring.
THEMES = words(
    """
    console conversation erasure formation goals memories operations pages personas recall
    transfer
    """
)
THEME_FOLDERS = ("cli", "http", "hub", "model", "wire", "wiring")
# Other modules that share a name: the one thing they are all about.
TWINS = {
    "backup": "a copy of the database: the command, and what SQLite does for it",
    "dialect": "the SQL of one database: what every one says, and how SQLite says it",
    "doctor": "what is wrong with an installation: the command, and SQLite's part of it",
    "embedder": "what makes vectors: the command, and the port",
    "envelope": "the frame of every answer: its shape, and how it is written",
    "erase_user": "to erase a user: the command, and the use case",
    "extractor": "a port, and its only implementation",
    "failures": "how a front door words errors in its own protocol",
    "files": "an adapter that keeps its things in files",
    "forget": "to forget a memory: the command, and the use case",
    "memory_search": "a port, and its implementation in SQL",
    "meter": "a port, and its only implementation",
    "options": "what the settings say to one part of the program",
    "persona": "a persona: the commands, and the value",
    "rekey": "a bot under another name: the values, and the use case",
    "templates": "templates of personas: where they lie, and what is made of them",
    "undo": "to take back a change: the command, and the use case",
    "upkeep": "what is done as time passes: the loop, its wiring, and its statements",
    "vectors": "the vectors of memories",
}
PAIRS = ("chinese", "english")  # the same grammar in two languages

# Errors say what happened, as every client knows them; a command is named as it is typed.
PARTICIPLE_ALLOWED = {"errors.py: Rejected", "errors.py: Expired", "cli/personas/goals.py: done"}
VERBS_IN_ED = words(
    """
    bleed embed exceed feed need proceed seed shed speed succeed
    """
)
IRREGULAR_PARTICIPLES = words(
    """
    begun bound born bought broken brought built caught chosen dealt done drawn driven eaten
    fallen fed felt forgiven forgotten found given gone got grown heard held hidden kept known
    laid led left lost made meant met paid proven risen said seen sent shown sold spent spoken
    stolen stood struck stuck sworn taken taught thought thrown told torn understood woken won
    worn written
    """
)


def short_name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def definitions() -> Iterator[tuple[Path, NAMED]]:
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, NAMED):
                yield file, node


def test_a_folder_holds_at_most_15_modules() -> None:
    sizes = Counter(short_name(file.parent) for file in SOURCES if file.stem != "__init__")

    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for file, node in definitions():
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            places[node.name].append(short_name(file))

    shared = {name: files for name, files in places.items() if len(files) > 1}

    assert len(SHARED_CLASS_NAMES) <= 3
    assert {name: files for name, files in shared.items() if name not in SHARED_CLASS_NAMES} == {}


ENGINE_FOLDERS = frozenset({"adapters/sqlite", "adapters/postgres", "adapters/mysql"})


def may_share_a_name(stem: str, folders: list[str]) -> bool:
    """Return whether modules of this name in these folders are about one thing."""
    if stem in TWINS:
        return True
    if stem in THEMES:
        return all(folder.split("/")[0] in THEME_FOLDERS for folder in folders)
    if ENGINE_FOLDERS.issuperset(folders):  # the same part of another engine
        return True
    if stem.endswith("_store"):  # a port, and its implementation for each kind of database
        return all(folder.split("/")[0] in ("ports", "adapters") for folder in folders)
    [one, *others] = [frozenset(folder.split("/")) - set(PAIRS) for folder in folders]
    is_pair = all(Path(folder).name in PAIRS for folder in folders)
    return is_pair and all(other == one for other in others)


def test_modules_that_share_a_name_are_about_one_thing() -> None:
    folders = defaultdict(list)
    for file in SOURCES:
        if not file.stem.startswith("__"):
            folders[file.stem].append(short_name(file.parent))

    twins = {stem: found for stem, found in folders.items() if len(found) > 1}

    misleading = {stem: found for stem, found in twins.items() if not may_share_a_name(stem, found)}
    assert misleading == {}


def test_a_docstring_says_what_is_returned_or_done() -> None:
    weak = [
        f"{short_name(file)}: {node.name}"
        for file, node in definitions()
        if FORBIDDEN_OPENINGS.match(ast.get_docstring(node) or "")
    ]

    assert weak == []


def is_bare_participle(name: str) -> bool:
    """Return whether a name is one word that says only that something was done."""
    word = name.strip("_")
    if not re.fullmatch(r"[A-Z]?[a-z]+", word):
        return False
    word = word.lower()
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and word not in VERBS_IN_ED)


@pytest.mark.parametrize(
    ("name", "is_bare"),
    [
        *(("Told", True), ("_found", True), ("opened", True), ("Recalled", True)),
        *(("embed", False), ("read", False), ("opened_hub", False), ("NotFound", False)),
    ],
)
def test_a_bare_participle_is_known_as_one(name: str, is_bare: bool) -> None:
    assert is_bare_participle(name) is is_bare


def test_no_class_or_function_is_named_by_a_bare_participle() -> None:
    bare = {
        f"{short_name(file)}: {node.name}"
        for file, node in definitions()
        if is_bare_participle(node.name)
    }

    assert bare - PARTICIPLE_ALLOWED == set()
