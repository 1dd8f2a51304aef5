"""The schema and the migrations agree; files of other releases are opened or refused."""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest

from harness import StartHub, environment
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.migrate import (
    current_version,
    migrate_schema,
    migrations,
    stored_schema_version,
)
from plastic_memories.adapters.sqlite.queries import sql_file
from plastic_memories.errors import InvalidSetting
from plastic_memories.language.text import tokens
from plastic_memories.language.text.tokens import index_terms, term_codes
from plastic_memories.model.entry import partition_of
from plastic_memories.model.key import KeyLimits
from plastic_memories.rules.ranking.vector_codec import normalise_rows, pack_vectors
from plastic_memories.settings import load_settings
from plastic_memories.testing.samples import memory, store_memories
from plastic_memories.wiring import open_hub, open_storage

Schema = dict[str, object]


def schema_of(db: apsw.Connection) -> Schema:
    """Return every table with its columns and every index with what it covers."""
    names = "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    found: Schema = {}
    for kind, name in db.execute(names).fetchall():
        if kind == "table":
            found[name] = db.execute(f"PRAGMA table_xinfo({name})").fetchall()
        if kind == "index":
            text = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
            found[name] = " ".join(str(text).split())
    return found


def test_schema_and_migrations_lead_to_the_same_database() -> None:
    whole, stepwise = apsw.Connection(":memory:"), apsw.Connection(":memory:")

    whole.execute(sql_file("schema.sql"))
    for _, name in migrations():
        stepwise.execute(sql_file(f"migrations/{name}"))

    assert schema_of(whole) == schema_of(stepwise)


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = sorted({number for number, _ in migrations()})

    assert numbers == list(range(1, current_version() + 1))


def test_a_fresh_database_is_of_the_current_version(tmp_path: Path) -> None:
    db = connect(str(tmp_path / "hub.db"), 1000)

    ran = migrate_schema(db)

    assert ran == ["schema.sql"]
    assert stored_schema_version(db) == current_version()
    db.close()


def test_opening_again_runs_nothing_and_keeps_the_secrets(tmp_path: Path) -> None:
    db = connect(str(tmp_path / "hub.db"), 1000)
    migrate_schema(db)
    before = db.execute("SELECT * FROM meta ORDER BY key").fetchall()

    ran = migrate_schema(db)

    assert ran == []
    assert db.execute("SELECT * FROM meta ORDER BY key").fetchall() == before
    db.close()


async def test_what_was_kept_is_there_after_reopening(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    async with open_hub(settings) as hub:
        await hub.keys.create("default", "userA", "kept", KeyLimits(), key="kept-key")

    async with open_hub(settings) as hub:
        assert (await hub.keys.authenticate("kept-key")).label == "kept"
        assert await hub.storage.read(lambda stores: stores.upkeep.check()) == []


async def test_a_database_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    async with open_storage(settings):
        pass
    db = apsw.Connection(str(settings.db_path))
    db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (current_version() + 1,))
    db.close()

    with pytest.raises(InvalidSetting, match="newer"):
        async with open_storage(settings):
            pass

    db = apsw.Connection(str(settings.db_path))
    assert stored_schema_version(db) == current_version() + 1
    db.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    settings.db_path.write_bytes(b"this is not a database, but somebody's diary" * 100)

    with pytest.raises((InvalidSetting, apsw.NotADBError)):
        async with open_storage(settings):
            pass

    assert settings.db_path.read_bytes().startswith(b"this is not")


async def test_an_index_that_is_gone_is_made_anew_at_the_next_start(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    async with open_storage(settings):
        pass
    db = apsw.Connection(str(settings.db_path))
    for table in ("fts_memory_terms", "fts_memory"):
        db.execute(f"DROP TABLE {table}")
    db.close()

    async with open_storage(settings) as storage:
        assert await storage.read(lambda stores: stores.upkeep.check()) == []


@pytest.mark.parametrize("table", ["fts_memory", "fts_messages", "fts_memory_terms"])
async def test_whichever_part_of_the_index_is_gone(tmp_path: Path, table: str) -> None:
    settings = load_settings(environment(tmp_path))
    async with open_storage(settings):
        pass
    db = apsw.Connection(str(settings.db_path))
    db.execute(f"DROP TABLE {table}")
    db.close()

    async with open_storage(settings) as storage:
        assert await storage.read(lambda stores: stores.upkeep.check()) == []


@pytest.mark.parametrize(("content", "query"), [("我喜歡喝烏龍茶", "乌龙茶"), ("我养鳄鱼", "鱷魚")])
@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
async def test_an_index_of_older_terms_is_made_anew_at_the_next_start(
    start_hub: StartHub, tmp_path: Path, engine: str, content: str, query: str
) -> None:
    with pytest.MonkeyPatch.context() as before:
        # Up to version 2 of the terms, texts were indexed in the characters they came in.
        before.setattr(tokens, "to_simplified", lambda chars: chars)
        older = await start_hub(recall=engine)
        await older.remember(content, "note")
        await older.say(content, session_id="s1")
    db = apsw.Connection(str(tmp_path / "hub.db"))
    db.execute("UPDATE meta SET value = '2' WHERE key = 'terms_version'")
    db.close()

    newer = await start_hub(recall=engine)

    found = await newer.recall(query)
    assert [row["content"] for row in found["PERSONA_MEMORY"]] == [content]
    assert content in str(found["CHAT_SNIPPETS"])


async def test_vectors_stay_when_the_terms_are_made_anew(tmp_path: Path) -> None:
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)})
    vector = pack_vectors(normalise_rows(np.array([[1.0, 2.0]])))
    async with open_storage(settings) as storage:
        [active] = await store_memories(storage, memory("烏龍茶"))
        await storage.write(lambda stores: stores.vectors.set_model("m"))
        [waiting] = await storage.read(lambda stores: stores.vectors.list_missing(0, 9))
        await storage.write(lambda stores: stores.vectors.put("m", [(waiting, vector)]))
    db = apsw.Connection(str(settings.db_path))
    db.execute("UPDATE meta SET value = '2' WHERE key = 'terms_version'")
    db.execute("UPDATE recall_entries SET terms = x'00000000'")
    db.close()

    async with open_storage(settings) as storage:
        news = await storage.read(lambda stores: stores.entries.changes_since(partition_of(active)))

    [entry] = news.entries
    assert (entry.memory_id, entry.vector) == (active.id, vector)
    assert entry.terms == term_codes(index_terms("乌龙茶"))
