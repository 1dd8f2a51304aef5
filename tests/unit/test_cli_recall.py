"""`plastic-memories recall` with no hub running: by meaning, or saying why not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner, Result

from embedding_parts import Asked, LocalServer, Reply, about, serving
from plastic_memories.cli.main import main

CATS = about([["kitten", "猫", "cat"], ["tea", "茶"]])


# Meaning is measured beside the rest: among two memories neither stands out.
CHATTER = ["今天下雨了", "the printer is jammed", "地铁很挤", "lunch was salty", "I need new 鞋子"]
NOTES = [*CHATTER, "A kitten called Mochi moved in", "我每天早上喝茶"]


class Desk:
    """One installation without a hub, whose embedder is an endpoint on this machine."""

    def __init__(self, folder: Path, server: LocalServer) -> None:
        self.folder = folder
        self.server = server

    def run(self, *arguments: str, model: str = "m") -> Result:
        env = {
            "HOME": str(self.folder),
            "PLASTIC_MEMORIES_DATA_DIR": str(self.folder / "data"),
            "PLASTIC_MEMORIES_PORT": "1",
            "PLASTIC_MEMORIES_EMBEDDER": f"openai:{model}",
            "PLASTIC_MEMORIES_EMBEDDER_BASE_URL": self.server.url,
            "PLASTIC_MEMORIES_API_KEYS": None,
            "PLASTIC_MEMORIES_API_KEY": None,
            "PLASTIC_MEMORIES_URL": None,
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }
        done = CliRunner().invoke(main, list(arguments), env=env)
        assert done.exit_code == 0, done.output
        return done

    def recalled(self, query: str, **more: str) -> tuple[list[str], list[str]]:
        """Return what was found, and what was left out."""
        found: dict[str, Any] = json.loads(self.run("recall", query, "--json", **more).stdout)
        return [one["content"] for one in found["PERSONA_MEMORY"]], found["degraded"]

    def vectors(self) -> list[bytes | None]:
        db = apsw.Connection(str(self.folder / "data" / "plastic_memories.db"))
        try:
            return [row[0] for row in db.execute("SELECT vector FROM recall_entries")]
        finally:
            db.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(LocalServer(CATS)) as server:
        made = Desk(tmp_path, server)
        for text in NOTES:
            made.run("remember", "--type", "note", text)
        yield made


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("猫", "A kitten called Mochi moved in"),
        ("which cat?", "A kitten called Mochi moved in"),
        ("喜欢哪种 tea", "我每天早上喝茶"),
    ],
)
def test_what_was_just_remembered_is_found_by_meaning(desk: Desk, query: str, said: str) -> None:
    found, degraded = desk.recalled(query)

    assert (found[0], degraded) == (said, [])


def test_remembering_and_asking_for_nothing_wait_for_no_model(desk: Desk) -> None:
    desk.run("recall")

    assert desk.server.asked == []


def test_without_its_embedder_it_says_that_it_searched_by_text(desk: Desk) -> None:
    def refuse(asked: Asked) -> Reply:
        return Reply(401, {})

    desk.server.answer = refuse

    found, degraded = desk.recalled("Mochi")
    shown = desk.run("recall", "猫").stdout

    assert (found[0], degraded) == ("A kitten called Mochi moved in", ["vectors"])
    assert "By text alone: the embedder is failing. The embedding endpoint answered 401" in shown


def test_one_command_does_not_clear_the_vectors_of_a_hub(desk: Desk) -> None:
    desk.recalled("猫")
    made = desk.vectors()

    _, degraded = desk.recalled("猫", model="another")
    shown = desk.run("recall", "猫", model="another").stdout

    assert degraded == ["vectors"]
    assert "vectors are of another model" in shown
    assert None not in made
    assert desk.vectors() == made


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Mochi", "A kitten called Mochi moved in"),
        ("喝茶", "我每天早上喝茶"),
        ("新 鞋子 please", "I need new 鞋子"),
    ],
)
def test_a_question_does_not_wait_until_everything_has_its_vector(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, query: str, said: str
) -> None:
    asked = threading.Event()

    def slow(request: Asked) -> Reply:
        if set(request.body["input"]) & set(NOTES):
            asked.wait(30)
        return CATS(request)

    desk.server.answer = slow
    monkeypatch.setattr("plastic_memories.cli.hub_connection._VECTORS_TIMEOUT_S", 0.1)
    started = time.monotonic()
    done = desk.run("recall", query, "--json")
    took = time.monotonic() - started
    asked.set()
    later = desk.run("recall", query, "--json")

    found = json.loads(done.stdout)
    assert took < 9  # or it has waited as for a model that is being loaded
    assert (found["PERSONA_MEMORY"][0]["content"], found["degraded"]) == (said, [])
    assert done.stderr.count(f"vectors are pending: {len(NOTES)} memories.") == 1
    assert "still wait" not in later.stderr


def test_where_a_score_comes_from_is_a_table(desk: Desk) -> None:
    shown = desk.run("recall", "猫", "--explain").stdout

    header = next(line for line in shown.splitlines() if "made of" in line)
    assert header.split() == ["#", "score", "made", "of", "found", "by", "left", "out"]
    assert "vectors 0." in shown
    assert "{" not in shown
