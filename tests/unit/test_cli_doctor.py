"""`plastic-memories doctor`, over a folder of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import apsw
import pytest
from click.testing import CliRunner

from embedding_hub import Model
from embedding_parts import Asked, LocalServer, Reply, serving, well_behaved, write_model
from plastic_memories.cli.main import main
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.ports.embedder import EmbedderChoice, Vectors
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_hub


class Patient:
    """An installation in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._env = {
            "HOME": str(folder),
            "PLASTIC_MEMORIES_DATA_DIR": str(folder / "data"),
            "PLASTIC_MEMORIES_PORT": "1",
            "PLASTIC_MEMORIES_EMBEDDER": "none",
            "PLASTIC_MEMORIES_API_KEYS": None,
            "PLASTIC_MEMORIES_API_KEY": None,
        }

    @property
    def database(self) -> Path:
        return self.folder / "data" / "plastic_memories.db"

    def run(self, *arguments: str, **more: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, list(arguments), env={**self._env, **more})
        return done.exit_code, done.stdout

    def examined(self, *arguments: str, **more: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Return the exit code and the checks by their names."""
        code, out = self.run("doctor", "--json", *arguments, **more)
        return code, {check["name"]: check for check in json.loads(out)["checks"]}


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


def test_a_fresh_machine_is_well_and_nothing_is_made(patient: Patient) -> None:
    code, checks = patient.examined()

    assert code == 0
    assert "fail" not in {check["status"] for check in checks.values()}
    assert list(patient.folder.iterdir()) == []


def test_an_installation_in_use_is_well(patient: Patient) -> None:
    patient.run("remember", "我对海鲜过敏")

    code, checks = patient.examined()

    assert code == 0
    assert "memory items 1" in checks["database"]["found"]


def test_a_key_that_others_can_read_is_found(patient: Patient) -> None:
    patient.run("list")
    (patient.folder / "data" / "key").chmod(0o644)

    code, checks = patient.examined()

    assert code == 1
    assert checks["key"]["advice"].startswith("Run: chmod 600")


def test_a_broken_text_index_is_found_and_put_right(patient: Patient) -> None:
    patient.run("remember", "我对海鲜过敏")
    db = apsw.Connection(str(patient.database))
    db.execute("DELETE FROM fts_memory_docsize WHERE id = 1")
    db.close()

    code, checks = patient.examined()
    fixed, after = patient.examined("--fix")

    assert (code, fixed) == (1, 0)
    assert "1 active memories missing from the text index" in checks["database"]["found"]
    assert checks["database"]["advice"] == "Run: plastic-memories doctor --fix"
    assert after["database"]["status"] == "ok"


def test_what_was_put_right_is_found_again(patient: Patient) -> None:
    patient.run("remember", "The wifi box is under the stairs")
    db = apsw.Connection(str(patient.database))
    db.execute("DELETE FROM fts_memory_docsize WHERE id = 1")
    db.close()

    patient.run("doctor", "--fix")

    _, out = patient.run("recall", "wifi", "--json")
    assert [row["id"] for row in json.loads(out)["PERSONA_MEMORY"]] == [1]


def test_a_file_that_is_no_database_is_found(patient: Patient) -> None:
    patient.database.parent.mkdir()
    patient.database.write_bytes(b"x" * 5000)

    code, checks = patient.examined()

    assert code == 1
    assert "restore" in checks["database"]["advice"]


def test_a_wrong_setting_is_found(patient: Patient) -> None:
    code, checks = patient.examined(PLASTIC_MEMORIES_PORT="eighty")

    assert code == 1
    assert "PLASTIC_MEMORIES_PORT" in checks["settings"]["found"]


def test_an_unknown_plug_in_is_found(patient: Patient) -> None:
    code, checks = patient.examined(PLASTIC_MEMORIES_JUDGE="oracle")

    assert code == 1
    assert checks["plug-in judge"]["advice"] == "Choose one of: llm, rules."


def test_people_are_told_what_to_do_next(patient: Patient) -> None:
    patient.run("list")
    (patient.folder / "data" / "key").chmod(0o644)

    _, shown = patient.run("doctor")

    assert "→ Run: chmod 600" in shown
    assert "1 failed." in shown


def test_the_embedder_is_named_with_the_reason(patient: Patient, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")

    _, without = patient.examined()
    _, checks = patient.examined(PLASTIC_MEMORIES_EMBEDDER=f"onnx:{folder}")

    assert without["embedder"]["found"] == "none: EMBEDDER=none: recall by text alone"
    assert checks["embedder"]["status"] == "ok"
    assert f"EMBEDDER=onnx, from {folder}: onnx/tiny/" in checks["embedder"]["found"]
    assert checks["embedder"]["found"].endswith("24 dimensions; 0 vectors, 0 waiting")


def test_vectors_of_another_model_are_called_stale(patient: Patient, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    patient.run("remember", "我对海鲜过敏")
    db = apsw.Connection(str(patient.database))
    db.execute("UPDATE recall_entries SET vector = x'01'")
    db.execute("INSERT INTO meta (key, value) VALUES ('vector_model', 'old/1#1')")
    db.close()

    code, checks = patient.examined(PLASTIC_MEMORIES_EMBEDDER=f"onnx:{folder}")

    assert (code, checks["embedder"]["status"]) == (0, "warn")
    assert checks["embedder"]["found"].endswith("1 vectors are of old/1#1")


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        ("onnx:nowhere/model", "embedder download nowhere/model"),
        ("onnx:/no/such/folder", "there is no folder /no/such/folder"),
        ("openai:m", "EMBEDDER_BASE_URL"),
    ],
)
def test_an_embedder_that_cannot_be_had_is_found(
    patient: Patient, embedder: str, said: str
) -> None:
    code, checks = patient.examined(PLASTIC_MEMORIES_EMBEDDER=embedder)

    assert (code, checks["embedder"]["status"]) == (1, "fail")
    assert said in checks["embedder"]["found"]


def test_a_model_that_is_damaged_is_found(patient: Patient, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"no model")

    code, checks = patient.examined(PLASTIC_MEMORIES_EMBEDDER=f"onnx:{folder}")

    assert (code, checks["embedder"]["status"]) == (1, "fail")
    assert checks["embedder"]["found"].endswith("model.onnx cannot be loaded.")


@pytest.mark.parametrize("number", [0.0, float("nan")])
def test_an_endpoint_whose_vectors_point_nowhere_is_found(patient: Patient, number: float) -> None:
    def answer(asked: Asked) -> Reply:
        row = [number] * 8
        data = [{"index": place, "embedding": row} for place in range(len(asked.body["input"]))]
        return Reply(body={"data": data})

    with serving(LocalServer(answer)) as server:
        code, checks = patient.examined(
            PLASTIC_MEMORIES_EMBEDDER="openai:m", PLASTIC_MEMORIES_EMBEDDER_BASE_URL=server.url
        )

    assert (code, checks["embedder"]["status"]) == (1, "fail")
    assert "points nowhere" in checks["embedder"]["found"]


@pytest.mark.parametrize("refused", ["The bus was late again this morning.", "我想换一部新手机。"])
def test_the_embedder_is_tried_as_the_hub_tries_it(patient: Patient, refused: str) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(401, {}) if refused in asked.body["input"] else well_behaved(asked)

    with serving(LocalServer(answer)) as server:
        code, checks = patient.examined(
            PLASTIC_MEMORIES_EMBEDDER="openai:m", PLASTIC_MEMORIES_EMBEDDER_BASE_URL=server.url
        )

    assert (code, checks["embedder"]["status"]) == (1, "fail")
    assert "answered 401" in checks["embedder"]["found"]


def _without_a_shape() -> Model:
    model = Model()
    model.after = lambda _, rows: cast("Vectors", rows.tolist())
    return model


def _unloadable() -> Model:
    raise ImportError("no such library")


@pytest.mark.parametrize(
    ("loaded", "said"),
    [
        (_without_a_shape, "mine: The embedder returned vectors of another shape."),
        (_unloadable, "mine raised ImportError."),
    ],
)
def test_a_plug_in_that_does_something_else_is_found(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, loaded: Callable[[], Model], said: str
) -> None:
    choice = EmbedderChoice("mine", "a test", loaded)
    monkeypatch.setattr(
        "plastic_memories.cli.operations.embedder_check.embedder_choice", lambda _: choice
    )

    code, checks = patient.examined()

    assert (code, checks["embedder"]["status"]) == (1, "fail")
    assert checks["embedder"]["found"] == said


def test_every_message_is_digested_waits_or_was_given_up(patient: Patient) -> None:
    patient.run("remember", "我对海鲜过敏")
    with_messages(patient, 3)

    code, checks = patient.examined()

    assert code == 0
    assert checks["messages"]["found"] == "0 digested, 3 waiting, 0 dead"


def test_messages_that_were_lost_on_the_way_are_found_and_wait_again(patient: Patient) -> None:
    patient.run("remember", "我对海鲜过敏")
    with_messages(patient, 3)
    db = apsw.Connection(str(patient.database))
    db.execute("UPDATE sessions SET waiting = 0")
    db.close()

    code, checks = patient.examined()
    fixed, after = patient.examined("--fix")

    assert (code, checks["messages"]["status"]) == (1, "fail")
    assert checks["messages"]["found"].startswith("3 lost")
    assert (fixed, after["messages"]["found"]) == (0, "0 digested, 3 waiting, 0 dead")


def test_what_was_given_up_is_shown(patient: Patient) -> None:
    patient.run("remember", "我对海鲜过敏")
    with_messages(patient, 3)
    db = apsw.Connection(str(patient.database))
    db.execute(
        "INSERT INTO jobs (tenant_id, user_id, persona_id, session_ref, task_type, status, "
        "trigger, max_retries, created_at, next_try_at) "
        "SELECT tenant_id, user_id, persona_id, id, 'full', 'dead', 'idle', 3, 1, 1 FROM sessions"
    )
    db.close()

    code, checks = patient.examined()

    assert (code, checks["messages"]["status"]) == (0, "warn")
    assert checks["messages"]["found"] == "0 digested, 0 waiting, 3 dead"


def with_messages(patient: Patient, number: int) -> None:
    """Leave messages that wait to be digested."""
    settings = load_settings(
        {
            "PLASTIC_MEMORIES_DATA_DIR": str(patient.folder / "data"),
            "PLASTIC_MEMORIES_WORKER": "off",
        }
    )
    owner = Owner("default", "local", "default")
    said = [
        Message(owner=owner, role=Role.USER, content=f"line {n}", ts=time.time())
        for n in range(number)
    ]

    async def talk() -> None:
        async with open_hub(settings) as hub:
            await hub.messages.append(hub_caller(owner.user), owner, said)

    asyncio.run(talk())
