"""mem0's own client library against a real server, unchanged: every method of its table."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import StartServer

pytestmark = [pytest.mark.external, pytest.mark.timeout(180)]
SCRIPT = Path(__file__).with_name("mem0_calls.py")
Json = dict[str, Any]


@pytest.fixture
def answers(clients: Path, start_server: StartServer, tmp_path: Path) -> Json:
    """What mem0's client got from the hub, call by call."""
    server = start_server()
    env = {**os.environ, "MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path / "mem0")}
    python = clients / "mem0" / "bin" / "python"
    done = subprocess.run(
        [str(python), str(SCRIPT), server.url, "appkey"],
        env={**env, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: Json = json.loads(done.stdout)
    return told


def texts(answer: Json) -> list[str]:
    return [row["memory"] for row in answer["results"]]


def test_the_sync_and_the_async_client_work_unchanged(answers: Json) -> None:
    done = answers["sync"]

    check_writing(done)
    check_reading(done)
    check_changing(done)
    check_refusals(done, answers["wrong_key"])
    check_deleting(done)
    check_async(answers["async"])


def check_writing(done: Json) -> None:
    assert done["ids"] == ["default", "default"]
    assert done["add"]["status"] == "SUCCEEDED"
    assert done["add"]["event_id"]
    assert "I love sci-fi movies" in texts(done["add"])
    assert {one["event"] for one in done["add"]["results"]} == {"ADD"}
    assert texts(done["add_chinese"]) == ["我对海鲜过敏"]
    assert texts(done["add_as_said"]) == ["茶在柜子里"]


def check_reading(done: Json) -> None:
    assert texts(done["search"]) == ["I love sci-fi movies"]
    assert 0 < done["search"]["results"][0]["score"] <= 1
    assert texts(done["search_filtered"]) == ["我对海鲜过敏"]
    assert {row["metadata"]["kind"] for row in done["search_metadata"]["results"]} == {"movies"}
    first, second = done["get_all"], done["get_all_next"]
    assert first["count"] == second["count"] == 4
    assert first["next"]
    assert second["previous"]
    assert len({row["id"] for row in first["results"] + second["results"]}) == 4
    row = done["get"]
    assert (row["memory"], row["user_id"], row["expiration_date"]) == (
        "茶在柜子里",
        "alice",
        "2999-01-01",
    )


def check_changing(done: Json) -> None:
    assert (done["update"]["memory"], done["update"]["metadata"]) == ("茶在冰箱里", {"n": 1})
    assert [(one["event"], one["new_memory"]) for one in done["history"]] == [
        ("ADD", "茶在柜子里"),
        ("UPDATE", "茶在冰箱里"),
    ]
    named = {(one["type"], one["name"]) for one in done["users"]["results"]}
    assert named == {("user", "alice"), ("user", "bob"), ("agent", "初音"), ("run", "r1")}
    assert "1" in done["batch_update"]["message"]


def check_refusals(done: Json, wrong_key: str) -> None:
    assert done["get_missing"].startswith("MemoryNotFoundError")
    assert done["unknown_operator"].startswith("ValidationError")
    assert "like" in done["unknown_operator"]
    assert done["summary"].startswith("MemoryNotFoundError")
    assert wrong_key.startswith("ValueError")


def check_deleting(done: Json) -> None:
    assert "deleted" in done["delete"]["message"]
    assert "deleted" in done["delete_all"]["message"]
    assert texts(done["left"]) == texts(done["add"])[1:]
    assert [one["name"] for one in done["nobody_left"]["results"]] == []
    assert "successful" in done["reset"]["message"]
    assert done["after_reset"]["count"] == 0


def check_async(done: Json) -> None:
    assert "I love sci-fi movies" in texts(done["search"])
    assert done["get"]["id"] == done["update"]["id"]
    assert [one["event"] for one in done["history"]] == ["ADD", "UPDATE"]
    assert done["users"]["count"] == 1
    assert "1" in done["batch_update"]["message"]
    assert "1" in done["batch_delete"]["message"]
    assert done["left"]["results"] == []
    assert done["nobody_left"]["results"] == []
