"""`plastic-memories export` and `import`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]


def test_an_export_can_be_taken_in_elsewhere(run: Run, parsed: Parsed, tmp_path: Path) -> None:
    run("remember", "我对海鲜过敏")
    file = tmp_path / "all.zip"
    elsewhere = {"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "elsewhere")}

    written = parsed(run("export", str(file), "--json"))
    tried = parsed(run("import", str(file), "--dry-run", "--json", **elsewhere))
    before = parsed(run("list", "--json", **elsewhere))["items"]
    taken = parsed(run("import", str(file), "--json", **elsewhere))
    waits = parsed(run("list", "--json", **elsewhere))["items"]

    assert written["format"] == "bundle"
    assert tried["counts"] == taken["counts"]
    assert taken["counts"]["waiting"] == 1
    assert before == waits == []


def test_an_export_that_is_trusted_elsewhere_holds_at_once(
    run: Run, parsed: Parsed, tmp_path: Path
) -> None:
    run("remember", "我对海鲜过敏")
    file = tmp_path / "all.jsonl"
    elsewhere = {"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "elsewhere")}
    run("export", str(file))

    doubted = run("import", str(file), "--dry-run", **elsewhere)
    taken = parsed(run("import", str(file), "--trust", "--json", **elsewhere))

    assert "--trust" in doubted.output
    assert taken["trusted"] is True
    assert len(parsed(run("list", "--json", **elsewhere))["items"]) == 1
    assert run("import", str(file), "--trust", "--from", "mem0").exit_code == 2


def test_an_export_to_the_screen_is_json_lines(run: Run) -> None:
    run("remember", "我对海鲜过敏")

    lines = [json.loads(line) for line in run("export").stdout.splitlines()]

    assert [line["kind"] for line in lines] == [
        "plastic_memories", "settings", "persona", "memory", "signature",
    ]  # fmt: skip


def test_an_export_does_not_write_over_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text("mine", encoding="utf-8")

    assert run("export", str(file), "--to-archive").exit_code == 2
    assert "exports/" in run("export", "--to-archive").stdout
    result = run("export", str(file))

    assert result.exit_code == 1
    assert file.read_text(encoding="utf-8") == "mine"


def test_a_file_of_another_kind_gets_no_tick(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary\nno export at all\n", encoding="utf-8")

    shown = run("import", str(file))
    as_json = run("import", str(file), "--json")

    assert shown.exit_code == as_json.exit_code == 1
    assert "✓" not in shown.output
    assert "✗ nothing of this file can be imported" in shown.output
    assert "line 1: not a line of an export" in shown.output


def test_a_file_that_is_taken_in_partly_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "half.jsonl"
    note = {"kind": "memory", "type": "note", "key": "k", "content": "tea", "persona_id": "default"}
    file.write_text(json.dumps(note) + "\nbroken\n", encoding="utf-8")

    shown = run("import", str(file))

    assert shown.exit_code == 0
    assert "! imported: memories 1; not all of the file" in shown.output
    assert "✓" not in shown.output


def test_only_the_persona_named_is_rebuilt(run: Run, parsed: Parsed) -> None:
    run("remember", "tea", "--persona", "miku")
    run("remember", "rain", "--persona", "rin")

    named = parsed(run("rebuild", "--persona", "rin", "--json"))
    early = parsed(run("--persona", "miku", "rebuild", "--json"))
    every = parsed(run("rebuild", "--json"))

    assert set(named["personas"]) == {"rin"}
    assert set(early["personas"]) == {"miku"}
    assert set(every["personas"]) == {"miku", "rin"}
