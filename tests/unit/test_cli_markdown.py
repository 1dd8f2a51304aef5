"""`plastic-memories markdown`, and what a backup says of pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from page_parts import Pages
from plastic_memories.cli.main import main

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command of an installation that lies in `tmp_path`, with no hub running."""
    env = {
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_API_KEYS": "key:local",
        "PLASTIC_MEMORIES_API_KEY": None,
        "PLASTIC_MEMORIES_URL": None,
        "PLASTIC_MEMORIES_MARKDOWN_POLL_S": "3600",
        "NO_COLOR": "1",
    }
    return lambda *arguments: CliRunner().invoke(main, list(arguments), env=env)


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(tmp_path, "local")


def test_without_pages_there_is_nothing_to_show(run: Run, pages: Pages) -> None:
    shown = run("markdown", "list")

    assert (shown.exit_code, shown.output.strip()) == (0, "No pages.")
    assert not pages.exist()


def test_sync_says_what_it_has_done(run: Run, pages: Pages) -> None:
    pages.of("default").write("- 我喜欢爬山\n- 我的密码是hunter2secret\n")

    shown = run("markdown", "sync")

    assert "memory://persona/core: 1 imported, 0 changed, 0 revoked, 0 exported" in shown.output
    assert "line 2 is not remembered: sensitive: credential" in shown.output
    assert "hunter2secret" not in shown.output
    again = json.loads(run("markdown", "sync", "--json").stdout)
    assert [item["added"] for item in again["items"]] == [[], []]


def test_pages_are_listed_and_shown(run: Run, pages: Pages) -> None:
    pages.write("喜欢 tea\n")
    pages.write("# 健康\n好\n", "extended/h.md")

    listed = run("markdown", "list")
    shown = run("markdown", "show", "memory://extended/h.md")
    missing = run("markdown", "show", "memory://extended/none.md")

    assert "memory://extended/h.md" in listed.output
    assert "健康" in listed.output
    assert "好" in shown.output
    assert missing.exit_code == 1
    assert "not_found" in missing.output


def test_a_backup_says_that_pages_are_not_in_it(run: Run, pages: Pages, tmp_path: Path) -> None:
    pages.of("default").write("- 我喜欢爬山\n")
    run("markdown", "sync")

    shown = run("backup", str(tmp_path / "copy.db"))
    told = json.loads(run("backup", str(tmp_path / "copy.db"), "--force", "--json").stdout)

    assert f"copy {tmp_path / 'users'} as well" in shown.output
    assert told["not_in_it"] == [str(tmp_path / "users")]
