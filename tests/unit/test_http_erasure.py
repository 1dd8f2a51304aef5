"""What is erased leaves the bytes of the database file and of its log, before the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from harness import Api, Json, StartHub, StillClock
from plastic_memories.hub.hub import Hub
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter

# Nothing else in these tests holds this word.
WORD = "quokka"
TEXT = f"我养了一只 {WORD}，叫豆豆"
LOG = "write-ahead log"
MINE, NOW = Owner("default", "userA", "p1"), 1.0


def places(folder: Path, *words: str) -> list[str]:
    """Return the files of the database in which one of the words stands, free pages and all."""
    files = sorted(folder.glob("hub.db*"))
    return [
        f"{word} in {file.name}"
        for file in files
        for word in words
        if word.encode() in file.read_bytes()
    ]


@contextmanager
def snapshot_held(folder: Path) -> Iterator[None]:
    """Be a reader that does not come to an end."""
    db = apsw.Connection(str(folder / "hub.db"))
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM memory_items").fetchall()
    try:
        yield
    finally:
        db.close()


def hub_of(api: Api) -> Hub:
    assert api.hub is not None
    return api.hub


async def learned(api: Api) -> Json:
    """Say and remember it; return the names by which it can be erased."""
    message_id = await api.say(TEXT, session_id="s1")
    await api.say("天气很好 today", session_id="s1")
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])
    return {"message_id": message_id, "memory_id": memory_id}


async def test_a_forgotten_memory_is_in_no_byte_of_the_files(api: Api, tmp_path: Path) -> None:
    named = await learned(api)
    assert places(tmp_path, WORD)

    forgotten = await api.did("/memory/forget", memory_id=named["memory_id"], include_messages=True)

    assert places(tmp_path, WORD, "豆豆") == []
    assert forgotten["receipt"]["pending"] == []


@pytest.mark.parametrize("way", ["delete", "session", "purge", "persona"])
async def test_whatever_erases_clears_the_files(api: Api, tmp_path: Path, way: str) -> None:
    message_id = await api.say(TEXT, session_id="s1")
    ways: dict[str, tuple[str, Json]] = {
        "delete": ("/messages/delete", {"message_id": message_id}),
        "session": ("/messages/delete", {"session_id": "s1", "all": True}),
        "purge": ("/messages/purge", {"all": True}),
        "persona": ("/persona/delete", {"confirm": "p1"}),
    }
    path, body = ways[way]

    done = await api.did(path, **body)

    assert places(tmp_path, WORD, "豆豆") == []
    assert done.get("receipt", done)["pending"] == []


async def test_an_edited_message_leaves_no_old_words(api: Api, tmp_path: Path) -> None:
    message_id = await api.say(TEXT)

    edited = await api.did("/messages/edit", message_id=message_id, content="我养了一只猫")

    assert places(tmp_path, WORD) == []
    assert edited["pending"] == []


@pytest.mark.parametrize("way", ["edit", "delete", "session"])
async def test_no_ended_row_keeps_the_words_of_a_message_that_is_gone(
    api: Api, tmp_path: Path, way: str
) -> None:
    message_id = await api.say(f"I am allergic to {WORD}s", session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)
    assert WORD in str(await api.listed())
    ways: dict[str, tuple[str, Json]] = {
        "edit": ("/messages/edit", {"message_id": message_id, "content": "我住在上海"}),
        "delete": ("/messages/delete", {"message_id": message_id}),
        "session": ("/messages/delete", {"session_id": "s1", "all": True}),
    }
    path, body = ways[way]

    done = await api.did(path, **body)

    assert WORD not in str(await api.saw("/memory/list", status="all"))
    assert places(tmp_path, WORD) == []
    assert await api.status_of(done["retracted"][0]) == "revoked"


async def test_a_log_that_a_reader_holds_is_named(api: Api, tmp_path: Path) -> None:
    named = await learned(api)

    with snapshot_held(tmp_path):
        forgotten = await api.did("/memory/forget", memory_id=named["memory_id"])

    assert forgotten["receipt"]["pending"] == [LOG]
    [job] = [job for job in (await api.saw("/jobs"))["items"] if job["task_type"] == "scrub"]
    assert job["status"] == "pending"


@pytest.mark.parametrize("formation", ["true", "false"])
async def test_when_the_reader_is_gone_the_job_clears_the_log(
    start_hub: StartHub, tmp_path: Path, formation: str
) -> None:
    clock = StillClock()
    api = await start_hub(clock, formation=formation, worker="off")
    named = await learned(api)
    with snapshot_held(tmp_path):
        await api.did("/memory/forget", memory_id=named["memory_id"], include_messages=True)
        clock.at += 60
        await _work(hub_of(api), formation)
        assert places(tmp_path, WORD)
    clock.at += 60

    await _work(hub_of(api), formation)

    assert places(tmp_path, WORD) == []
    [job] = [job for job in (await api.saw("/jobs"))["items"] if job["task_type"] == "scrub"]
    assert job["status"] == "completed"


async def _work(hub: Hub, formation: str) -> None:
    if formation == "true":
        await hub.job_runner.run_all_due("worker-1")
    else:
        await hub.upkeep.run_once()


async def test_a_log_left_by_a_crash_is_cleared_at_the_next_start(
    start_hub: StartHub, tmp_path: Path
) -> None:
    api = await start_hub()
    await api.remember(TEXT)
    # As if it had died after the commit: erased, and not scrubbed.
    await hub_of(api).storage.backend.write(_erase_all)
    assert places(tmp_path, WORD)

    await start_hub()

    assert places(tmp_path, WORD) == []


def _erase_all(stores: Stores) -> None:
    [row] = stores.memories.find(MINE, MemoryFilter())
    stores.memories.erase(MINE, [row.id], NOW)
