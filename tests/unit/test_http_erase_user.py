"""Erasing a user leaves nothing of them in any store, and everything of everybody else."""

from __future__ import annotations

import time
from pathlib import Path

import apsw
import pytest

from harness import Api, StartHub, StillClock, refused
from plastic_memories.adapters.archive.files import FileArchive
from plastic_memories.adapters.sqlite.backup import back_up, restore
from plastic_memories.errors import Unavailable
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.owner import User

# Nothing else in these tests holds this word.
WORD = "quokka"
KEPT_TABLES = {"audit", "erasures", "jobs", "recall_partitions", "talk_partitions", "api_keys"}


async def fill(api: Api) -> None:
    """Leave something in every store."""
    for persona in (api, api.of("p2")):
        await persona.say(f"I am allergic to {WORD}s", session_id="s1")
        await persona.did("/jobs/run", session_id="s1", wait=True)
        await persona.remember(f"a {WORD} note", "note", WORD)
        await persona.remember(f"a global {WORD}", "fact", WORD, scope="global")
        await persona.did("/goals/create", title=f"feed the {WORD}")
        gone = await persona.remember(f"never this {WORD}", "fact", "gone")
        await persona.did("/memory/forget", memory_id=gone, never_again=True)
    await api.confirmed(f"keeper of {WORD}s", "identity")
    await api.did("/sessions/end", session_id="s1")
    assert api.hub is not None
    await api.hub.job_runner.run_all_due("test")
    await api.did("/export/file")


def rows_of(folder: Path, user: str) -> dict[str, int]:
    """Return how many rows of a user each table holds."""
    db = apsw.Connection(str(folder / "hub.db"))
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        if any(column[1] == "user_id" for column in db.execute(f"PRAGMA table_info({name})"))
    ]
    counts = {
        name: db.execute(f"SELECT count(*) FROM {name} WHERE user_id = ?", (user,)).get
        for name in tables
    }
    db.close()
    return {name: number for name, number in counts.items() if number}


def files_with(folder: Path, word: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and word.encode() in path.read_bytes()
    ]


async def test_nothing_of_an_erased_user_is_left(start_hub: StartHub, tmp_path: Path) -> None:
    api = await start_hub(worker="off")
    await fill(api)
    pages = tmp_path / "users" / "userA" / ".memory"
    pages.mkdir(parents=True)
    (pages / "core.md").write_text(f"- my {WORD}\n", encoding="utf-8")
    assert files_with(tmp_path, WORD)

    done = await api.did("/user/erase", confirm="userA")

    receipt = done["receipt"]
    assert set(rows_of(tmp_path, "userA")) <= KEPT_TABLES
    assert files_with(tmp_path, WORD) == []
    assert (receipt["pending"], receipt["remaining"]) == ([], {"personas": 0})
    assert receipt["erased"]["memories"] >= 6
    assert receipt["archive"]["removed"] >= 1
    assert (await api.saw("/persona/list"))["items"] == []


async def test_nobody_else_loses_anything(start_hub: StartHub, tmp_path: Path) -> None:
    api = await start_hub(worker="off")
    other = api.as_("devkey2")
    namesake = api.as_("acmekey", "userA")
    for one in (api, other, namesake):
        await fill(one)
    before = rows_of(tmp_path, "userB"), await namesake.listed("all"), await other.listed("all")

    await api.did("/user/erase", confirm="userA")

    after = rows_of(tmp_path, "userB"), await namesake.listed("all"), await other.listed("all")
    assert after == before
    assert (await namesake.saw("/messages/recent"))["messages"]


async def test_the_id_must_be_repeated(api: Api) -> None:
    await api.remember("我喜欢猫")

    refused(await api.post("/user/erase", confirm="userB"), 422, "validation_error")

    assert await api.listed() == ["我喜欢猫"]


async def test_who_comes_back_begins_anew(api: Api) -> None:
    await fill(api)
    await api.did("/user/erase", confirm="userA")

    await api.remember("我喜欢猫")

    assert await api.listed("all") == ["我喜欢猫"]
    assert await api.recalled("猫") == ["我喜欢猫"]
    assert (await api.learn("never this quokka"))["skipped"] == []


async def test_what_an_archive_that_is_away_holds_is_erased_later(
    start_hub: StartHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await start_hub(worker="off")
    await fill(api)

    async def fail(*_: object) -> int:
        raise Unavailable("The archive is away.")

    with monkeypatch.context() as patched:
        patched.setattr(FileArchive, "remove_under", fail)
        receipt = (await api.did("/user/erase", confirm="userA"))["receipt"]
    assert receipt["pending"] == ["archive", "exports"]
    assert files_with(tmp_path, WORD)
    [job] = [job for job in (await api.saw("/jobs"))["items"] if job["task_type"] == "erase_user"]
    assert job["status"] == "pending"

    await api.did("/user/erase", confirm="userA")

    assert files_with(tmp_path, WORD) == []


async def test_a_crash_in_the_middle_is_finished_by_a_worker(
    start_hub: StartHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = StillClock()
    api = await start_hub(clock, worker="off")
    await fill(api)
    assert api.hub is not None

    class Crash(BaseException):
        pass

    async def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(type(api.hub.erase_user), "_erase_files", crash)
        with pytest.raises(Crash):
            await api.hub.erase_user(hub_caller(User("default", "userA")), "userA")
    assert files_with(tmp_path, WORD)

    clock.at += 3600
    again = await start_hub(clock, worker="off")
    await again.hub.job_runner.run_all_due("test")

    assert files_with(tmp_path, WORD) == []
    assert set(rows_of(tmp_path, "userA")) <= KEPT_TABLES


async def test_a_restored_backup_erases_the_user_again(start_hub: StartHub, tmp_path: Path) -> None:
    api = await start_hub(worker="off")
    await fill(api)
    database, copy = tmp_path / "hub.db", tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    back_up(database, copy)
    await api.did("/user/erase", confirm="userA")

    done = restore(copy, database, keep=tmp_path / "copies" / "kept.db", now=time.time())

    assert done.replayed is not None
    assert done.replayed.users == 1
    assert set(rows_of(tmp_path, "userA")) <= KEPT_TABLES
    assert await api.listed("all") == []


async def test_a_forget_reaches_the_copy_that_a_restore_has_kept(
    start_hub: StartHub, tmp_path: Path
) -> None:
    api = await start_hub(worker="off")
    memory_id = await api.remember(f"a {WORD} note", "note", WORD)
    database, copy = tmp_path / "hub.db", tmp_path / "copy.db"
    kept = tmp_path / "hub.db.before-restore-20260101-000000.db"
    back_up(database, copy)
    restore(copy, database, keep=kept, now=time.time())
    copy.unlink()

    receipt = (await api.did("/memory/forget", memory_id=memory_id))["receipt"]

    assert files_with(tmp_path, WORD) == []
    assert [note for note in receipt["elsewhere"] if kept.name in note]
    assert receipt["pending"] == []
