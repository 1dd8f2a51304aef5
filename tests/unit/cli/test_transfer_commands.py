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
