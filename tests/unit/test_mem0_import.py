"""`plastic-memories import --from mem0`: whatever its interfaces print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from plastic_memories.cli.main import main
from plastic_memories.formats.mem0_export import read_mem0_export

Run = Callable[..., Any]
TEA: dict[str, Any] = {
    "id": "0b1c5f0e-6f5e-4b2a-9a43-0d2f2a6f6d11",
    "memory": "喜欢绿茶",
    "hash": "x",
    "user_id": "alice",
    "agent_id": "miku",
    "run_id": "r1",
    "metadata": {"place": "家"},
    "categories": ["food"],
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": "2024-07-21T01:30:36.275141-07:00",
}
CAT = {"id": "2", "memory": "Has a cat named Momo", "user_id": "alice", "created_at": "2024-01-01"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command in an installation of its own; return its JSON, or the result if it failed."""
    env = {
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_API_KEYS": "appkey:*",
        "PLASTIC_MEMORIES_API_KEY": "appkey",
        "PLASTIC_MEMORIES_URL": None,
        "NO_COLOR": "1",
    }

    def invoke(*arguments: str) -> Any:
        result: Result = CliRunner().invoke(main, list(arguments), env=env)
        if "--json" in arguments and result.exit_code == 0:
            return json.loads(result.stdout)
        return result

    return invoke


def file_of(folder: Path, content: object) -> str:
    file = folder / "mem0.json"
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    file.write_text(text, encoding="utf-8")
    return str(file)


SHAPES = [
    [TEA, CAT],
    {"results": [TEA, CAT]},
    {"count": 2, "next": None, "previous": None, "results": [TEA, CAT]},
    {"memories": [TEA, CAT]},
    [{"results": [TEA]}, {"results": [CAT]}],
    "\n".join(json.dumps(row) for row in (TEA, CAT)),
    "\n".join(json.dumps({"results": [row]}) for row in (TEA, CAT)),
    "\ufeff" + json.dumps([TEA, CAT]),
]


@pytest.mark.parametrize("content", SHAPES, ids=range(len(SHAPES)))
def test_every_shape_is_read(content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)

    export = read_mem0_export(text.removeprefix("\ufeff"))

    assert [entry.line["content"] for entry in export.entries] == [TEA["memory"], CAT["memory"]]
    assert export.skipped == []


def test_memories_without_ids_of_ours_are_no_versions_of_each_other(
    run: Run, tmp_path: Path
) -> None:
    run("import", "--from", "mem0", file_of(tmp_path, [{**TEA, "agent_id": ""}, CAT]), "--json")

    rows = run("list", "--json")["items"]
    assert [row["supersedes_id"] for row in rows] == [None, None]
    run("forget", str(rows[0]["id"]), "--yes", "--json")
    assert len(run("list", "--json")["items"]) == 1


def test_a_memory_keeps_what_it_had(run: Run, tmp_path: Path) -> None:
    done = run("import", "--from", "mem0", file_of(tmp_path, [TEA, CAT]), "--json")

    [row] = run("list", "--persona", "miku", "--json")["items"]
    assert done["counts"] == {"memories": 2}
    assert (row["content"], row["type"], row["status"]) == ("喜欢绿茶", "fact", "active")
    assert (row["session_id"], row["source_app"]) == ("r1", "mem0")
    assert (row["source_type"], row["source_ref"]) == ("imported", f"mem0:{TEA['id']}")
    assert (row["metadata"], row["tags"]) == ({"place": "家"}, ["food"])
    assert row["created_at"] == pytest.approx(1721464236.275141)
    assert len(run("list", "--persona", "default", "--json")["items"]) == 1


def test_what_is_taken_in_is_found(run: Run, tmp_path: Path) -> None:
    run("import", "--from", "mem0", file_of(tmp_path, [TEA, CAT]))

    found = run("recall", "绿茶", "--persona", "miku", "--json")

    assert [row["content"] for row in found["PERSONA_MEMORY"]] == ["喜欢绿茶"]


def test_a_second_time_changes_nothing(run: Run, tmp_path: Path) -> None:
    file = file_of(tmp_path, [TEA, CAT])
    run("import", "--from", "mem0", file)

    again = run("import", "--from", "mem0", file, "--json")

    assert again["counts"] == {"already_there": 2}
    assert again["conflicts"] == again["skipped"] == []


def test_a_dry_run_stores_nothing(run: Run, tmp_path: Path) -> None:
    tried = run("import", "--from", "mem0", file_of(tmp_path, [TEA]), "--dry-run", "--json")

    assert tried["counts"] == {"memories": 1}
    assert run("list", "--persona", "miku", "--json")["items"] == []


def test_what_cannot_be_taken_in_is_named_with_its_place(run: Run, tmp_path: Path) -> None:
    secret = {**CAT, "id": "3", "memory": "我的密码是hunter2secret"}
    large = {**CAT, "id": "4", "metadata": {"x": "y" * 5000}}
    lines = [
        json.dumps(TEA),
        "not json",
        "",
        json.dumps({"id": "9"}),
        json.dumps(secret),
        json.dumps(large),
        json.dumps({**CAT, "id": "5", "event": "DELETE"}),
        "[1]",
    ]

    done = run("import", "--from", "mem0", file_of(tmp_path, "\n".join(lines)), "--json")

    assert done["counts"] == {"memories": 1}
    assert [(one["line"], one["reason"].split()[0]) for one in done["skipped"]] == [
        (2, "not"),
        (4, "without"),
        (5, "refused:"),
        (6, "metadata"),
        (7, "deleted"),
        (8, "not"),
    ]


def test_people_get_a_report_in_words(run: Run, tmp_path: Path) -> None:
    result = run("import", "--from", "mem0", file_of(tmp_path, [TEA, {"id": "9"}]))

    assert result.exit_code == 0
    assert "imported: memories 1" in result.stdout
    assert "line 2: without a text" in result.stdout


def test_memories_of_several_users_are_not_thrown_together(run: Run, tmp_path: Path) -> None:
    file = file_of(tmp_path, [TEA, {**CAT, "user_id": "bob"}])

    refused = run("import", "--from", "mem0", file)
    args = ("--mem0-user", "bob", "--user", "robert", "--json")
    done = run("import", "--from", "mem0", file, *args)

    assert refused.exit_code == 1
    assert "alice (1), bob (1)" in refused.output
    assert done["counts"] == {"memories": 1}
    [row] = run("list", "--user", "robert", "--json")["items"]
    assert row["content"] == CAT["memory"]


def test_many_are_sent_in_lots_and_keep_their_places(run: Run, tmp_path: Path) -> None:
    rows = [{**CAT, "id": str(number), "memory": f"memory {number}"} for number in range(1100)]
    rows[1050]["metadata"] = {"x": "y" * 5000}

    done = run("import", "--from", "mem0", file_of(tmp_path, rows), "--json")

    assert done["counts"] == {"memories": 1099}
    assert [one["line"] for one in done["skipped"]] == [1051]


def test_a_file_that_is_no_text_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b"\xff\xfe\x00")

    result = run("import", "--from", "mem0", str(file))

    assert result.exit_code == 1
    assert "UTF-8" in result.output


def test_the_option_for_users_needs_the_one_for_mem0(run: Run, tmp_path: Path) -> None:
    result = run("import", file_of(tmp_path, []), "--mem0-user", "alice")

    assert result.exit_code == 2


def test_the_persona_named_gets_all(run: Run, tmp_path: Path) -> None:
    run("import", "--from", "mem0", file_of(tmp_path, [TEA, CAT]), "--persona", "rin", "--json")

    rows = run("list", "--persona", "rin", "--json")["items"]
    assert {row["content"] for row in rows} == {TEA["memory"], CAT["memory"]}


def test_the_usual_persona_gets_what_names_no_agent(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLASTIC_MEMORIES_PERSONA", "rin")

    run("import", "--from", "mem0", file_of(tmp_path, [TEA, CAT]), "--json")

    assert [row["content"] for row in run("list", "--json")["items"]] == [CAT["memory"]]
    [row] = run("list", "--persona", "miku", "--json")["items"]
    assert row["content"] == TEA["memory"]
