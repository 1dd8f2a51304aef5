"""`plastic-memories import --from legacy`: everything of the older program is taken over."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from legacy_database import T0, make_legacy_database, memory_row, memory_row_v1, slot_row
from plastic_memories.cli.main import main

Run = Callable[..., Any]
LATER = int(time.time()) + 86_400
MEI = {"user_id": "mei", "persona_id": "rin"}
ROWS = {
    "personas": [
        {"user_id": "local", "persona_id": "miku", "display_name": "初音", "description": "歌手",
         "created_at": T0, "updated_at": T0 + 5},
    ],
    "messages": [
        {"user_id": "local", "persona_id": "miku", "session_id": "s1", "source_app": "ide",
         "role": "user", "content": "我喜欢绿茶", "created_at": T0 + 7},
        {**MEI, "session_id": "", "source_app": None, "role": "assistant", "content": "你好",
         "created_at": T0 + 8},
    ],
    "memory_items": [
        memory_row(1, type="identity", mkey="id1", content="dev", status="revoked"),
        memory_row(2, type="identity", mkey="id2", content="student", supersedes_id=1),
        memory_row(3, tags_json='["food"]', source_ref="chat:9", scope="global", confidence=0.4),
        memory_row(8, type="mood", mkey="k9"),
        memory_row(9),
        memory_row(4, status="candidate", source_type="model_inferred", expires_at=LATER),
        memory_row(5, expires_at=T0 + 60),
        memory_row(6, type="mood", mkey="k3", content="cheerful"),
        memory_row(7, **MEI, type="constraints", content="no seafood"),
    ],
    "persona_slots": [
        slot_row(1, "identity", "student", memory_id=2),
        slot_row(2, "values", "honesty"),
        slot_row(3, "preferences", "gone", memory_id=99),
    ],
    "goals": [
        {"id": 4, "user_id": "local", "persona_id": "miku", "title": "run 5 km", "details": "",
         "status": "paused", "created_at": T0, "updated_at": T0 + 1},
    ],
    "goal_links": [
        {"user_id": "local", "persona_id": "miku", "goal_id": 4, "memory_id": 3, "note": "why",
         "created_at": T0 + 2},
    ],
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command in an installation of its own; return its JSON, or the result if it failed."""
    env = {
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_EMBEDDER": "none",
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


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return make_legacy_database(tmp_path / "old.db", 2, ROWS)


def take_over(run: Run, file: Path, *more: str) -> Any:
    return run("import", "--from", "legacy", str(file), "--json", *more)


def rows_by_content(run: Run, persona: str = "miku", user: str = "local") -> dict[str, Any]:
    place = ("--persona", persona, "--user", user)
    found = run("list", "--status", "all", "--json", *place)["items"]
    return {row["content"]: row for row in found}


def exported(run: Run, kind: str, user: str = "local") -> list[dict[str, Any]]:
    lines = [json.loads(text) for text in run("export", "--user", user).stdout.splitlines()]
    return [line for line in lines if line["kind"] == kind]


def test_memories_keep_what_they_had(run: Run, old: Path) -> None:
    done = take_over(run, old)

    rows = rows_by_content(run)
    assert done["counts"] == {"personas": 1, "messages": 2, "memories": 10, "goals": 1}
    assert {content: row["status"] for content, row in rows.items()} == {
        "dev": "revoked", "student": "active", "text 3": "active", "text 4": "candidate",
        "text 5": "expired", "cheerful": "active", "honesty": "active", "text 8": "active",
        "text 9": "active",
    }  # fmt: skip
    note = rows["text 3"]
    assert (note["tags"], note["source_ref"], note["scope"]) == (["food"], "chat:9", "global")
    assert (note["confidence"], note["created_at"], note["updated_at"]) == (0.4, T0 + 3, T0 + 3)
    assert rows["text 4"]["source_type"] == "model_inferred"
    assert rows["text 4"]["expires_at"] == LATER
    assert rows["student"]["supersedes_id"] == rows["dev"]["id"]
    assert rows["dev"]["superseded_by"] == rows["student"]["id"]


def test_a_type_of_the_older_program_alone_becomes_a_note(run: Run, old: Path) -> None:
    take_over(run, old)

    row = rows_by_content(run)["cheerful"]
    assert (row["type"], row["key"]) == ("note", "mood.k3")
    assert row["metadata"] == {"legacy_type": "mood"}


def test_a_slot_whose_memory_was_forgotten_does_not_come_back(run: Run, old: Path) -> None:
    done = take_over(run, old)

    assert "gone" not in rows_by_content(run)
    assert [one["line"] for one in done["skipped"]] == ["persona_slots 3"]


def test_personas_messages_and_goals_keep_their_times(run: Run, old: Path) -> None:
    take_over(run, old)

    [persona] = exported(run, "persona")
    [message] = exported(run, "message")
    [goal] = exported(run, "goal")
    assert (persona["display_name"], persona["description"]) == ("初音", "歌手")
    assert (persona["created_at"], persona["updated_at"]) == (T0, T0 + 5)
    assert (message["content"], message["ts"], message["session_id"]) == (
        "我喜欢绿茶",
        T0 + 7,
        "s1",
    )
    assert (message["role"], message["source_app"]) == ("user", "ide")
    assert (goal["title"], goal["status"], goal["created_at"]) == ("run 5 km", "paused", T0)
    [link] = goal["links"]
    assert link["memory_id"] == rows_by_content(run)["text 3"]["id"]
    assert (link["note"], link["created_at"]) == ("why", T0 + 2)


def test_each_user_gets_their_own_rows(run: Run, old: Path) -> None:
    done = take_over(run, old)

    assert set(done["users"]) == {"local", "mei"}
    [row] = rows_by_content(run, "rin", "mei").values()
    assert (row["content"], row["status"]) == ("no seafood", "active")
    assert exported(run, "message", "mei")[0]["role"] == "assistant"


def test_one_user_can_be_taken_over_alone(run: Run, old: Path) -> None:
    done = take_over(run, old, "--user", "mei")

    assert set(done["users"]) == {"mei"}
    assert rows_by_content(run) == {}


def test_a_second_run_changes_nothing(run: Run, old: Path) -> None:
    take_over(run, old)
    revoked = rows_by_content(run)["text 4"]["id"]
    run("inbox", "--reject", str(revoked), "--persona", "miku")
    before = rows_by_content(run)

    again = take_over(run, old)

    assert set(again["counts"]) == {"already_there"}
    assert again["conflicts"] == []
    assert rows_by_content(run) == before


def test_a_dry_run_changes_nothing_and_says_what_would_happen(run: Run, old: Path) -> None:
    tried = take_over(run, old, "--dry-run")

    assert rows_by_content(run) == {}
    assert tried["counts"] == take_over(run, old)["counts"]


@pytest.mark.parametrize("wal", [False, True], ids=["delete", "wal"])
def test_the_file_stays_as_it_was(run: Run, tmp_path: Path, wal: bool) -> None:
    file = make_legacy_database(tmp_path / "old" / "old.db", 2, ROWS, wal=wal)
    before = file.read_bytes()

    take_over(run, file)

    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_what_is_still_in_the_log_is_taken_over(run: Run, tmp_path: Path) -> None:
    file = make_legacy_database(tmp_path / "old" / "old.db", 2, wal=True)
    with closing(sqlite3.connect(file)) as in_use:
        in_use.execute("INSERT INTO messages VALUES (1, 'local', 'p', 's', '', 'user', 'hi', 9)")
        in_use.commit()
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{file}{suffix}", crashed / f"old.db{suffix}")
    before = {one.name: one.read_bytes() for one in crashed.iterdir()}

    done = take_over(run, crashed / "old.db")

    assert done["counts"] == {"messages": 1}
    assert {one.name: one.read_bytes() for one in crashed.iterdir()} == before


def test_what_holds_here_already_is_a_conflict(run: Run, tmp_path: Path) -> None:
    take_over(run, make_legacy_database(tmp_path / "a.db", 2, {"memory_items": [memory_row(1)]}))
    other = {"memory_items": [memory_row(1, content="other")]}

    done = take_over(run, make_legacy_database(tmp_path / "b.db", 2, other))

    [conflict] = done["conflicts"]
    assert (conflict["line"], conflict["key"]) == ("memory_items 1", "k1")
    assert set(rows_by_content(run)) == {"text 1"}


def test_version_1_is_taken_over(run: Run, tmp_path: Path) -> None:
    rows = [
        memory_row_v1(1, ttl_seconds=None),
        memory_row_v1(2, ttl_seconds=60),
        memory_row_v1(3, ttl_seconds=10**9),
        memory_row_v1(4, type="identity", mkey="a", content="older"),
        memory_row_v1(5, type="identity", mkey="b", content="newer"),
    ]
    file = make_legacy_database(tmp_path / "old.db", 1, {"memory_items": rows})

    done = take_over(run, file)

    found = rows_by_content(run)
    assert done["counts"] == {"memories": 5}
    assert {content: row["status"] for content, row in found.items()} == {
        "text 1": "active", "text 2": "expired", "text 3": "active", "older": "candidate",
        "newer": "active",
    }  # fmt: skip
    assert found["text 3"]["expires_at"] == T0 + 3 + 10**9


def test_a_memory_may_replace_one_with_a_higher_id(run: Run, tmp_path: Path) -> None:
    rows = [memory_row(1, supersedes_id=2), memory_row(2, status="revoked")]
    file = make_legacy_database(tmp_path / "old.db", 2, {"memory_items": rows})

    take_over(run, file)

    found = rows_by_content(run)
    assert found["text 1"]["supersedes_id"] == found["text 2"]["id"]


def test_a_file_of_another_kind_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    file.write_text("no database")

    done = run("import", "--from", "legacy", str(file))

    assert done.exit_code == 1
    assert "not a database of the older program" in done.output


def test_the_report_names_the_users(run: Run, old: Path) -> None:
    done = run("import", "--from", "legacy", str(old))

    assert "! imported: personas 1" in done.output
    assert "mei: messages 1, memories 1" in done.output
    assert "persona_slots 3: the memory behind this slot was forgotten" in done.output
