"""Backup and restore of a database that is in use."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from cards import as_png, v2
from plastic_memories.adapters.sqlite.backup import back_up, restore
from plastic_memories.adapters.sqlite.connection import connect, fetch
from plastic_memories.adapters.sqlite.doctor import examine
from plastic_memories.adapters.sqlite.migrate import migrate_schema
from plastic_memories.cli.hub_connection import in_process_transport
from plastic_memories.errors import Conflict, InvalidInput, NotFound
from plastic_memories.settings import Settings, load_settings
from plastic_memories_client import AsyncPlasticMemoriesClient, Message

_KEY = "devkey"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(
        {
            "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
            "PLASTIC_MEMORIES_API_KEYS": f"{_KEY}:local",
        }
    )


def client_of(transport: httpx.AsyncBaseTransport) -> AsyncPlasticMemoriesClient:
    return AsyncPlasticMemoriesClient("http://hub", api_key=_KEY, transport=transport)


def put_back(source: Path, settings: Settings) -> Any:
    keep = settings.db_path.with_name("before.db")
    keep.unlink(missing_ok=True)
    return restore(source, settings.db_path, keep=keep, now=time.time())


def numbers(path: Path, sql: str) -> list[int]:
    db = apsw.Connection(str(path))
    try:
        return [next(iter(row.values())) for row in fetch(db, sql)]
    finally:
        db.close()


def text_of(path: Path) -> bytes:
    """Return all that lies on the disk under this name."""
    return b"".join(part.read_bytes() for part in path.parent.glob(path.name + "*"))


async def test_a_backup_made_while_writing_is_whole(settings: Settings, tmp_path: Path) -> None:
    dest = tmp_path / "copy.db"
    copied = threading.Event()
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "first", "written before the copy")

        def copy() -> None:
            back_up(settings.db_path, dest)
            copied.set()

        thread = threading.Thread(target=copy)
        thread.start()
        written = 0
        while not copied.is_set() or written == 0:
            await client.write_item("note", f"n{written}", f"note number {written}")
            written += 1
        thread.join()

    seen = examine(dest, 0)
    assert seen.problems == []
    assert numbers(dest, "SELECT id FROM memory_items WHERE mkey = 'first'") == [1]
    assert written >= 1


async def test_a_backup_is_one_private_file(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        # Still in the log beside the database when the copy is made.
        await client.write_item("note", "late", "still in the log")
        made = back_up(settings.db_path, folder / "copy.db")

    assert [file.name for file in folder.iterdir()] == ["copy.db"]
    assert (folder / "copy.db").stat().st_mode & 0o077 == 0
    assert made.counts["memory_items"] == 1


async def test_a_backup_writes_over_nothing_unless_told_to(
    settings: Settings, tmp_path: Path
) -> None:
    dest = tmp_path / "copy.db"
    dest.write_text("mine", encoding="utf-8")
    async with in_process_transport(settings):
        pass

    with pytest.raises(Conflict):
        back_up(settings.db_path, dest)
    with pytest.raises(Conflict):
        back_up(settings.db_path, settings.db_path, overwrite=True)

    assert dest.read_text(encoding="utf-8") == "mine"
    assert back_up(settings.db_path, dest, overwrite=True).size_bytes > 4


async def test_a_restore_under_a_running_hub_is_seen_by_it(
    settings: Settings, tmp_path: Path
) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "old", "an old note about tea")
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.write_item("note", "new", "a new note about coffee")

        put_back(tmp_path / "copy.db", settings)

        keys = [row.key for row in (await client.list_memory()).items]
        found = [row.key for row in (await client.recall("tea coffee")).memory_items]
        again = await client.write_item("note", "newer", "written after the restore")

    assert keys == found == ["old"]
    # Number 2 was given out once, to a note that is gone now.
    assert again.memory_id == 3
    assert examine(settings.db_path, 5000).problems == []


async def test_what_was_forgotten_since_stays_forgotten(settings: Settings, tmp_path: Path) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write([Message(role="user", content="我喜欢乌龙茶")])
        await client.write_item("note", "kept", "this one stays")
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.forget_memory(memory_id=1, never_again=True)

        done = put_back(tmp_path / "copy.db", settings)

        learned = await client.write([Message(role="user", content="我喜欢乌龙茶")])
        rows = (await client.list_memory(status="all")).items
        found = (await client.recall("乌龙茶")).memory_items

    assert (done.replayed.memories, done.note) == (1, "")
    assert done.replayed.tombstones >= 1
    assert learned.items == []
    assert [row.key for row in rows] == ["kept"]
    assert all("乌龙茶" not in row.content for row in found)
    assert "乌龙茶".encode() not in text_of(settings.db_path)


async def test_a_slot_that_was_forgotten_since_is_empty(settings: Settings, tmp_path: Path) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("identity", "id1", "a nurse")
        await client.confirm(1)
        goal = await client.goal_create("Learn Rust")
        await client.goal_link(goal.goal_id, 1)
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.forget_memory("identity", "id1")

        put_back(tmp_path / "copy.db", settings)

        slots = await client.slots()
        (restored,) = await client.goals()

    assert slots == []
    assert restored.links == []
    assert examine(settings.db_path, 5000).problems == []


async def test_sentences_hidden_since_are_hidden_in_the_restored_database(
    settings: Settings, tmp_path: Path
) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        said = await client.append_messages(
            Message(role="user", content="I like jazz. I am allergic to quokkas.")
        )
        written = await client.write_item(
            "fact", "pet", "I am allergic to quokkas", source_message_ids=said.message_ids
        )
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.forget_memory(memory_ids=[written.memory_id])

        done = put_back(tmp_path / "copy.db", settings)

        found = await client.recall("quokkas jazz")
        assert "quokka" not in found.injection_block
        assert "jazz" in found.injection_block
        assert done.replayed.hidden == 1


async def test_messages_purged_or_hidden_since_do_not_come_back(
    settings: Settings, tmp_path: Path
) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        ids = (
            await client.append_messages(
                [Message(role="user", content=text) for text in ("one", "two", "three")]
            )
        ).message_ids
        sourced: Any = {"source_message_ids": ids[:1]}
        await client.write_item("note", "from talk", "learned from one", **sourced)
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.forget_memory("note", "from talk")
        await client.purge_messages(before_ts=time.time() + 60, session_id="nobody")
        await client.append_messages(Message(role="user", content="four"))

        put_back(tmp_path / "copy.db", settings)

        snippets = [one.content for one in (await client.recall("")).chat_snippets]
        await client.purge_messages(everything=True)
        put_back(tmp_path / "copy.db", settings)
        left = await client.recent_messages()

    assert sorted(snippets) == ["three", "two"]
    assert left == []


async def test_a_persona_deleted_since_stays_deleted(settings: Settings, tmp_path: Path) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "n", "of amy", persona_id="amy")
        await client.write_item("note", "n", "of bea", persona_id="bea")
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.persona_delete("amy")

        done = put_back(tmp_path / "copy.db", settings)

        personas = [one.persona_id for one in await client.persona_list()]

    assert done.replayed.personas == 1
    assert personas == ["bea"]


async def test_forgets_are_replayed_from_one_restore_to_the_next(
    settings: Settings, tmp_path: Path
) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "n", "to be forgotten")
        back_up(settings.db_path, tmp_path / "oldest.db")
        await client.write_item("note", "m", "another")
        back_up(settings.db_path, tmp_path / "older.db")
        await client.forget_memory("note", "n")

        put_back(tmp_path / "older.db", settings)
        put_back(tmp_path / "oldest.db", settings)

        rows = (await client.list_memory(status="all")).items

    assert rows == []


def keys_in(path: Path) -> dict[str, bool]:
    db = apsw.Connection(str(path))
    try:
        rows = fetch(db, "SELECT label, revoked_at FROM api_keys")
        return {row["label"]: row["revoked_at"] is None for row in rows}
    finally:
        db.close()


@pytest.fixture
def with_keys(settings: Settings, tmp_path: Path) -> Path:
    """A backup with two keys, one of which is revoked later, when a third is made."""
    copy = tmp_path / "copy.db"
    add_key = (
        "INSERT INTO api_keys (digest, tenant_id, user_id, label, created_at) "
        "VALUES (?, 'default', 'local', ?, 1.0)"
    )
    settings.db_path.parent.mkdir(parents=True)
    db = connect(str(settings.db_path), 1000)
    migrate_schema(db)
    db.execute(add_key, ("a", "kept"))
    db.execute(add_key, ("b", "revoked since"))
    back_up(settings.db_path, copy)
    db.execute("UPDATE api_keys SET revoked_at = 2.0 WHERE digest = 'b'")
    db.execute(add_key, ("c", "made since"))
    db.close()
    return copy


def test_keys_revoked_since_stay_revoked_and_keys_made_since_stay(
    settings: Settings, with_keys: Path
) -> None:
    done = put_back(with_keys, settings)

    assert (done.replayed.revoked_keys, done.replayed.kept_keys) == (1, 1)
    assert keys_in(settings.db_path) == {"kept": True, "revoked since": False, "made since": True}


async def test_a_backup_of_another_installation_is_restored_as_it_is(
    settings: Settings, tmp_path: Path
) -> None:
    other = settings.model_copy(update={"db_path": tmp_path / "other" / "db.db"})
    async with in_process_transport(other) as transport, client_of(transport) as client:
        await client.write_item("note", "n", "from elsewhere")
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "n", "from here")
        await client.forget_memory("note", "n")
        back_up(other.db_path, tmp_path / "copy.db")

        done = put_back(tmp_path / "copy.db", settings)

        rows = [row.content for row in (await client.list_memory()).items]

    assert done.replayed is None
    assert "another installation" in done.note
    assert rows == ["from elsewhere"]


async def test_the_replaced_database_is_kept(settings: Settings, tmp_path: Path) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        back_up(settings.db_path, tmp_path / "copy.db")
        await client.write_item("note", "n", "made since")

        done = put_back(tmp_path / "copy.db", settings)

    assert numbers(done.replaced, "SELECT count(*) FROM memory_items") == [1]
    assert not list(settings.db_path.parent.glob("*.restoring*"))


async def test_a_forget_in_the_last_moment_is_not_lost(settings: Settings, tmp_path: Path) -> None:
    """Forgets go on while the restore works; none that was answered comes back."""
    notes = 40
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        for number in range(notes):
            await client.write_item("note", f"n{number}", f"note {number}")
        back_up(settings.db_path, tmp_path / "copy.db")
        restored = threading.Event()

        def put() -> None:
            put_back(tmp_path / "copy.db", settings)
            restored.set()

        thread = threading.Thread(target=put)
        thread.start()
        forgotten = []
        for number in range(notes):
            await client.forget_memory("note", f"n{number}")
            forgotten.append(f"n{number}")
            if restored.is_set():
                break
        thread.join()

        left = {row.key async for row in client.iter_memory(status="all")}

    assert left.isdisjoint(forgotten)
    assert examine(settings.db_path, 5000).problems == []


def test_what_is_no_backup_is_refused_and_nothing_is_touched(
    settings: Settings, tmp_path: Path
) -> None:
    junk = tmp_path / "junk.db"
    junk.write_bytes(b"x" * 5000)
    foreign = tmp_path / "foreign.db"
    db = apsw.Connection(str(foreign))
    db.execute("CREATE TABLE t (x)")
    db.close()

    for source in (junk, foreign):
        with pytest.raises(InvalidInput):
            put_back(source, settings)
    with pytest.raises(NotFound):
        put_back(tmp_path / "nowhere.db", settings)

    assert not settings.db_path.exists()


async def test_a_damaged_database_is_moved_aside(settings: Settings, tmp_path: Path) -> None:
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.write_item("note", "n", "safe")
    back_up(settings.db_path, tmp_path / "copy.db")
    settings.db_path.write_bytes(b"x" * 5000)

    done = put_back(tmp_path / "copy.db", settings)

    assert done.counts["memory_items"] == 1
    assert done.replaced.read_bytes() == b"x" * 5000
    assert "could not be read" in done.note


async def test_a_card_that_a_forget_has_dropped_does_not_come_back(
    settings: Settings, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    async with in_process_transport(settings) as transport, client_of(transport) as client:
        await client.import_card(as_png(v2()))
        back_up(settings.db_path, copy)
        page = await client.list_memory(type="glossary")
        await client.forget_memory(memory_ids=[page.items[0].id])

    put_back(copy, settings)

    assert numbers(copy, "SELECT count(*) FROM persona_cards") == [1]
    assert numbers(settings.db_path, "SELECT count(*) FROM persona_cards") == [0]
