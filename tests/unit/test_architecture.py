"""The shape of the code itself: sizes, names, statements that name their owner."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from plastic_memories import errors
from plastic_memories.adapters.sqlite.queries import QUERIES, sql_file
from plastic_memories.http.envelope import STATUS, http_status

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    file
    for folder in (
        "src/plastic_memories",
        "clients/python/plastic_memories_client",
        "integrations/astrbot",
    )
    for file in (ROOT / folder).rglob("*.py")
)
CODE = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
BANNED = {"utils", "helpers", "common", "misc", "base", "manager", "processor", "info"}
# What belongs to nobody: the installation's own notes, and keys and sessions of the console, which
# are found by their digest and name their tenant.
UNOWNED = {"meta", "api_keys", "console_sessions"}
# The server's own work, over all owners.
UPKEEP = {
    "owners_of_due_forgets",
    "first_end", "due_memories", "old_messages", "crowded_personas", "prune_audit",
    "unembedded", "count_unembedded", "count_entries", "entries_after",
    "due_jobs", "due_jobs_by_turns", "quiet_sessions", "queue_depth", "reconcile",
    "adopt_messages", "talk_unembedded", "count_talk_unembedded", "count_talk_entries",
    "talk_entries_after", "unindexed_talk", "count_unindexed_talk",
    "unarchived_old", "unarchived_crowd", "prune_jobs", "owners_after",
    "kept_page_folders", "keep_pages_of_personas", "keep_pages_of_users",
}  # fmt: skip
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def functions(file: Path) -> Iterator[FUNCTION]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, FUNCTION):
            yield node


def methods_of(node: ast.ClassDef) -> list[FUNCTION]:
    """Return what a class can be called for; a property is none of it."""
    return [
        child for child in node.body if isinstance(child, FUNCTION) and not child.decorator_list
    ]


def test_there_is_code_to_look_at() -> None:
    assert len(SOURCES) > 100


def test_a_file_has_at_most_500_lines() -> None:
    sizes = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in CODE}

    assert {name: size for name, size in sizes.items() if size > 500} == {}


def test_a_function_has_at_most_60_lines() -> None:
    long = [
        f"{name_of(file)}: {node.name}"
        for file in CODE
        for node in functions(file)
        if node.end_lineno is not None and node.end_lineno - node.lineno >= 60
    ]

    assert long == []


def test_no_name_that_says_nothing() -> None:
    for file in SOURCES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        words = {word.lower() for name in classes for word in re.findall("[A-Z][a-z]+", name)}

        assert not BANNED & {file.stem, *file.parent.relative_to(ROOT).parts}, file
        assert not (BANNED - {"base", "info"}) & words, file


def test_a_module_says_in_one_line_what_it_is_for() -> None:
    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        if text.strip():
            first = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            assert 0 < len(first) <= 97, file


def test_nothing_that_is_installed_imports_fastapi() -> None:
    imports = re.compile(r"^\s*(?:import|from)\s+fastapi\b", re.MULTILINE)

    found = [name_of(file) for file in SOURCES if imports.search(file.read_text(encoding="utf-8"))]

    assert found == []


def test_a_port_has_at_most_eight_methods_or_says_why() -> None:
    ports = (
        (node.name, ast.get_docstring(node) or "", [child.name for child in methods_of(node)])
        for file in SOURCES
        if "ports" in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )

    assert [name for name, why, own in ports if len(own) > 8 and "methods" not in why] == []


def test_adapters_are_kept_apart_but_for_what_sql_engines_share() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [apart] = (
        contract["modules"]
        for contract in config["tool"]["importlinter"]["contracts"]
        if contract["type"] == "independence"
    )
    folders = {file.parent.name for file in SOURCES if file.parent.parent.name == "adapters"}

    assert {name.rpartition(".")[2] for name in apart} == folders - {"sql"}


def test_tables_that_belong_to_somebody_start_with_tenant_and_user() -> None:
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\n\) STRICT", sql_file("schema.sql"), re.DOTALL)

    for table, columns in tables:
        if table not in UNOWNED:
            assert "tenant_id" in columns, table
            assert "user_id" in columns, table


def test_every_index_of_an_owned_table_starts_with_the_tenant_or_is_for_upkeep() -> None:
    indexes = re.findall(r"CREATE (?:UNIQUE )?INDEX (\w+) ON \w+\s*\((\w+)", sql_file("schema.sql"))

    for name, first in indexes:
        assert first == "tenant_id" or name.endswith(("_by_age", "_expiring", "_unembedded")), name


def owned_statements() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every statement on what belongs to somebody."""
    for name, query in QUERIES.items():
        statement = re.sub(r"--.*", "", query.text)
        tables = set(re.findall(r"(?:FROM|INTO|(?<!DO )UPDATE|JOIN)\s+(\w+)", statement))
        if name not in UPKEEP and not tables <= UNOWNED:
            yield name, statement


def test_every_statement_on_what_is_owned_names_tenant_and_user() -> None:
    for name, statement in owned_statements():
        assert {":tenant_id", ":user_id"} <= set(re.findall(r":\w+", statement)), name


def test_every_condition_on_what_is_owned_compares_tenant_and_user() -> None:
    for name, statement in owned_statements():
        if statement.split()[0] != "INSERT":
            assert "tenant_id = :tenant_id" in statement, name
            assert "user_id = :user_id" in statement, name


def every_error(
    kind: type[errors.PlasticMemoriesError],
) -> Iterator[type[errors.PlasticMemoriesError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from every_error(child)


def test_every_error_has_a_status_of_its_own_family() -> None:
    for kind in every_error(errors.PlasticMemoriesError):
        status = http_status(kind)
        own = next(family for family in kind.__mro__ if family in STATUS)
        assert STATUS[own] == status
        assert (status == 500) is (kind in (errors.PlasticMemoriesError, errors.InternalError)), (
            kind
        )


CODES = {
    "bad_request": 400,
    "judge_deny": 400,
    "template_error": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict_requires_supersedes": 409,
    "expired": 409,
    "conflict": 409,
    "payload_too_large": 413,
    "validation_error": 422,
    "rate_limited": 429,
    "unavailable": 503,
    "internal_error": 500,
}


def test_every_code_of_the_contract_has_its_status() -> None:
    known = {kind.code: http_status(kind) for kind in every_error(errors.PlasticMemoriesError)}
    own = {code: known[code] for code in CODES}

    assert own == CODES


def test_the_error_tree_is_drawn_as_it_is() -> None:
    drawn = set(re.findall(r"^[│├└─ ]*([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE))
    real = {
        kind.__name__
        for kind in every_error(errors.PlasticMemoriesError)
        if kind.__module__ == errors.__name__
    }

    assert drawn - {"The"} == real
