"""What only a server shared by many can show: walls, outages, several processes at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import psycopg
import pytest

from harness import Api, StartHub, StillClock, data_of
from plastic_memories.adapters.postgres import migrate
from plastic_memories.adapters.postgres.backend import KEPT, PostgresBackend, open_postgres
from plastic_memories.adapters.postgres.connection import PostgresEngine
from plastic_memories.adapters.postgres.postgres_session import PostgresStores
from plastic_memories.adapters.postgres.queries import QUERIES
from plastic_memories.errors import InvalidInput, InvalidSetting, Unavailable
from plastic_memories.model.job import JobStatus
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import Conversation
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_TENANT,
    OTHER_USER,
    memory,
    store_memories,
)
from plastic_memories.testing.storage.job_stores import create_session, new_job, open_job
from services.postgres_server import PostgresServer, started_postgres
from services.real_server import free_port, private_folder
from services.test_postgres import PostgresTestOptions

pytestmark = pytest.mark.external


def connection_of(stores: Stores) -> psycopg.Connection[tuple[object, ...]]:
    assert isinstance(stores, PostgresStores)
    return stores.connection


def users_seen(table: str, stores: Stores) -> set[tuple[object, ...]]:
    """Ask one table for everybody's rows: no WHERE."""
    stores.personas.get(MINE)
    found = connection_of(stores).execute(f"SELECT tenant_id, user_id FROM {table}")
    return set(found.fetchall())


class TestRowSecurity:
    @pytest.mark.parametrize("table", ["memory_items", "recall_entries", "personas", "users"])
    async def test_a_statement_without_a_condition_sees_nothing_foreign(
        self, postgres_url: str, table: str
    ) -> None:
        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            owners = (MINE, OTHER_USER, OTHER_TENANT)
            await store_memories(storage, *(memory("tea", owner) for owner in owners))

            seen = await storage.read(partial(users_seen, table))

        assert seen == {("home", "lin")}

    async def test_who_says_nobody_sees_nothing(self, postgres_url: str) -> None:
        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            await store_memories(storage, memory("tea"))

            found = await storage.read(
                lambda s: connection_of(s).execute("SELECT * FROM memory_items").fetchall()
            )

        assert found == []

    async def test_nothing_is_written_for_somebody_else(self, postgres_url: str) -> None:
        def move_away(stores: Stores) -> None:
            stores.personas.get(MINE)
            connection_of(stores).execute("UPDATE memory_items SET user_id = 'chen'")

        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            await store_memories(storage, memory("tea"))

            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await storage.write(move_away)

    async def test_every_owned_table_is_guarded(self, postgres_url: str) -> None:
        db = PostgresEngine(postgres_url).connect(writing=False)

        unguarded = db.execute(
            "SELECT DISTINCT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relkind = 'r' AND a.attname = 'tenant_id' AND NOT c.relforcerowsecurity"
        ).fetchall()

        db.close()
        assert {name for (name,) in unguarded} == {
            "api_keys",
            "console_sessions",
            "memory_terms",
            "messages_terms",
        }


class TestManyProcesses:
    async def test_two_backends_count_as_one(self, postgres_url: str) -> None:
        options = PostgresTestOptions(postgres_url)
        async with open_postgres(options) as one, open_postgres(options) as two:
            await store_memories(one, memory("0", key="counter"))

            await asyncio.gather(*(each.write(_increment) for each in [one, two] * 20))

            [row] = await two.read(lambda s: s.memories.find(MINE, MemoryFilter()))
        assert row.content == "40"

    async def test_users_do_not_wait_for_each_other(self, postgres_url: str) -> None:
        begun, passing = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def linger(stores: Stores) -> None:
            stores.personas.ensure(MINE, NOW)
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(passing.wait(), loop).result(30)

        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            slow = asyncio.create_task(storage.write(linger))
            await begun.wait()

            [row] = await store_memories(storage, memory("tea", OTHER_USER))

            passing.set()
            await slow
        assert row.id

    async def test_a_job_is_taken_up_once(self, postgres_url: str) -> None:
        options = PostgresTestOptions(postgres_url)
        async with open_postgres(options) as one, open_postgres(options) as two:
            for number in range(20):
                owner = Owner("home", f"user-{number % 4}", "p")
                session = await create_session(one, Conversation(owner, f"s-{number}"))
                await open_job(one, new_job(session))

            taken = await asyncio.gather(*(each.write(_take_up) for each in [one, two] * 10))

        assert len(set(taken)) == 20
        assert None not in taken

    async def test_an_empty_database_is_set_up_once(self, postgres: PostgresServer) -> None:
        with postgres.database(empty=True) as url:
            async with AsyncExitStack() as stack:
                opened = await asyncio.gather(
                    *(
                        stack.enter_async_context(open_postgres(PostgresTestOptions(url)))
                        for _ in range(4)
                    )
                )

                described = [await each.describe() for each in opened]

        assert [each["schema_version"] for each in described] == [migrate.current_version()] * 4


class TestEvents:
    async def test_what_one_process_does_is_told_by_another(
        self, start_hub: StartHub, postgres_url: str
    ) -> None:
        server = {"backend": "postgres", "database_url": postgres_url}
        here: Api = await start_hub(**server)
        there: Api = await start_hub(**server)
        assert there.hub is not None
        user = User("default", "userA")

        async with there.hub.storage.sink.listen(user) as events, asyncio.timeout(30):
            await _until_listening(postgres_url, 2)
            memory_id = await here.remember("green tea")
            heard = await anext(events)

        assert (heard.event, heard.memory_id) == ("memory.write", memory_id)

    async def test_nobody_hears_twice_what_it_did_itself(
        self, start_hub: StartHub, postgres_url: str
    ) -> None:
        api: Api = await start_hub(backend="postgres", database_url=postgres_url)
        assert api.hub is not None

        async with api.hub.storage.sink.listen(User("default", "userA")) as events:
            await _until_listening(postgres_url, 1)
            first = await api.remember("green tea", key="a")
            second = await api.remember("black tea", key="b")
            heard = [(await anext(events)).memory_id for _ in range(2)]

        assert heard == [first, second]


class TestOlderTables:
    async def test_the_views_show_what_is_remembered(
        self, start_hub: StartHub, postgres_url: str
    ) -> None:
        api: Api = await start_hub(backend="postgres", database_url=postgres_url)
        await api.remember("小林", "profile", "basic_info.name")
        await api.did(
            "/memory/write", type="event", key="plan.exam", content="日语考试", importance=0.8,
            attributes={"event_type": "plan", "title": "考试", "date": "2026-12-06"},
        )  # fmt: skip
        await api.say("你好", session_id="s1")
        await api.did("/jobs/run", session_id="s1", wait=True)

        with psycopg.connect(postgres_url) as db:
            db.execute("SET plastic.scope = 'all'")
            profile = db.execute(
                "SELECT profile_type, profile_key, profile_value, is_deleted FROM user_profiles"
            ).fetchall()
            event = db.execute(
                "SELECT event_type, event_title, event_date, importance FROM user_events"
            ).fetchall()
            summaries = db.execute("SELECT message_count FROM conversation_summaries").fetchall()
            tasks = db.execute("SELECT task_type, status FROM memory_generation_tasks").fetchall()

        assert profile == [("basic_info", "name", "小林", False)]
        assert event == [("plan", "考试", "2026-12-06", 8)]
        assert summaries in ([], [(1,)])
        assert ("full", "completed") in tasks


class TestOutages:
    async def test_a_server_that_comes_back_is_used_again(self) -> None:
        with private_folder() as folder:
            port = free_port()
            with started_postgres(folder, port) as server:
                server.prepare()
                url = server.url_of("plastic_template")
                opened = open_postgres(PostgresTestOptions(url))
                storage = await opened.__aenter__()
                await store_memories(storage, memory("before"))

            outcomes = await _answers(storage)
            described = await storage.describe()
            with started_postgres(folder, port):
                [after] = await store_memories(storage, memory("after"))
                rows = await storage.read(lambda s: s.memories.find(MINE, MemoryFilter()))
                recovered = await storage.describe()
            await opened.__aexit__(None, None, None)

        assert [type(outcome) for outcome in outcomes] == [Unavailable, Unavailable]
        assert described["error"]
        assert [row.content for row in rows] == ["after", "before"]
        assert after.id
        assert recovered["error"] == ""

    async def test_a_server_that_is_not_there_is_a_setting_that_cannot_be_used(self) -> None:
        url = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"

        with pytest.raises(InvalidSetting, match="cannot be used"):
            async with open_postgres(PostgresTestOptions(url)):
                pass

    async def test_two_that_lock_each_other_out_are_both_served(self, postgres_url: str) -> None:
        ready = [asyncio.Event(), asyncio.Event()]
        loop = asyncio.get_running_loop()

        def cross(first: Owner, then: Owner, mine: int, stores: Stores) -> str:
            stores.personas.ensure(first, NOW)
            loop.call_soon_threadsafe(ready[mine].set)
            asyncio.run_coroutine_threadsafe(ready[1 - mine].wait(), loop).result(30)
            stores.personas.ensure(then, NOW)
            return "done"

        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            done = await asyncio.gather(
                storage.write(partial(cross, MINE, OTHER_USER, 0)),
                storage.write(partial(cross, OTHER_USER, MINE, 1)),
            )

        assert done == ["done", "done"]

    async def test_names_too_long_for_a_key_are_refused(self, postgres_url: str) -> None:
        chance = random.Random(1)
        long = Owner(
            *("".join(chr(chance.randint(0x4E00, 0x9FFF)) for _ in range(400)) for _ in range(3))
        )

        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            with pytest.raises(InvalidInput):
                await storage.write(lambda s: s.personas.ensure(long, NOW))

    async def test_a_receipt_says_what_the_server_keeps(self, postgres_url: str) -> None:
        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            residue = await storage.scrub()

        assert (residue.pending, residue.kept) == ((), KEPT)


# Here a value has the type that the driver gives it, and no other would do.
UNTYPED = {"adopt_messages", "heard_first", "heard_again"}


def test_the_server_understands_every_statement(postgres_url: str) -> None:
    db = PostgresEngine(postgres_url).connect(writing=True)
    cursor = psycopg.RawCursor(db)

    for name, statement in QUERIES.items():
        if name not in UNTYPED:
            cursor.execute(f"PREPARE {name} AS {statement.driver_text}".encode())

    db.close()


async def _until_listening(url: str, number: int) -> None:
    """Wait until so many processes listen: each says so by its last statement."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as db:
        while True:
            found = await db.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND query LIKE 'LISTEN%' AND state = 'idle'"
            )
            row = await found.fetchone()
            if row and row[0] >= number:
                return
            await asyncio.sleep(0.02)


async def _answers(storage: PostgresBackend) -> Sequence[object]:
    return await asyncio.gather(
        store_memories(storage, memory("during")),
        storage.read(lambda s: s.memories.find(MINE, MemoryFilter())),
        return_exceptions=True,
    )


def _increment(stores: Stores) -> None:
    [row] = stores.memories.find(MINE, MemoryFilter(key="counter"))
    stores.memories.erase(MINE, [row.id], NOW)
    stores.memories.add(memory(str(int(row.content) + 1), key="counter"))


def _take_up(stores: Stores) -> int | None:
    for job in stores.jobs.due_by_turns(NOW, None, 5):
        taken = replace(job, status=JobStatus.PROCESSING, next_try_at=NOW + 60, lease_owner="w")
        stores.jobs.save(taken)
        return job.id
    return None


TALK = [
    ("我对海鲜过敏，一吃就起疹子", "allergy"), ("最喜欢喝乌龙茶，不加糖", "drink"),
    ("每周三晚上去游泳", "swim"), ("女儿小雨今年上小学", "daughter"),
    ("I moved to Hangzhou last September", "city"), ("My sister plays the violin", "sister"),
    ("在准备十二月的日语考试", "exam"), ("I run five kilometres every morning", "run"),
    ("奶奶住在苏州，腿不太好", "grandma"), ("the cat is called Mochi", "cat"),
    ("咖啡喝多了睡不着", "coffee"), ("I prefer tea to coffee", "tea"),
]  # fmt: skip
QUESTIONS = [
    "我能吃虾吗？", "推荐一杯喝的", "what does my sister play", "小雨几岁", "tea or coffee?",
    "我什么时候游泳", "cat", "奶奶最近怎么样", "考试 日语", "where do I live?", "睡不着怎么办",
]  # fmt: skip


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
async def test_answers_are_those_of_the_embedded_database(
    start_hub: StartHub, postgres_url: str, engine: str
) -> None:
    """One talk, told to both: each question finds the same, in the same order, as well scored."""
    asked: list[list[object]] = []
    for more in ({}, {"backend": "postgres", "database_url": postgres_url}):
        # Without a worker, which learns at its own pace.
        api: Api = await start_hub(StillClock(), recall=engine, formation="off", **more)
        for number, (text, key) in enumerate(TALK):
            await api.remember(text, "fact", key, importance=0.3 + number / 20)
            await api.say(f"{text}。{key}", session_id=f"s{number % 3}")
        asked.append(
            [_shown(data_of(await api.post("/memory/recall", query=q))) for q in QUESTIONS]
        )

    assert asked[0] == asked[1]
    assert any(asked[0])


def _shown(answer: dict[str, object]) -> object:
    volatile = {"timings", "took_ms", "request_id", "trace"}
    return {name: value for name, value in answer.items() if name not in volatile}
