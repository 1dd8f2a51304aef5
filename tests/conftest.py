"""A hub in this process, a hub in a process of its own, and how long Hypothesis looks."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import HealthCheck, settings

from fake_upstream import FakeUpstream, fake_upstream
from harness import BASE_URL, Api, Server, StartHub, StartServer, StillClock, environment
from plastic_memories import wiring
from plastic_memories.http.app import create_app
from plastic_memories.settings import load_settings

if TYPE_CHECKING:
    from services.mysql_server import MysqlServer
    from services.postgres_server import PostgresServer

# No deadlines: a slow machine is not a bug.
_QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("default", deadline=None, suppress_health_check=_QUIET)
settings.register_profile("ci", deadline=None, suppress_health_check=_QUIET, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
# Expectations are written in English, whatever the machine speaks.
os.environ.setdefault("PLASTIC_MEMORIES_LANGUAGE", "en")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--backend", default="sqlite", help="the storage of the hubs under test")


def pytest_configure(config: pytest.Config) -> None:
    """On Windows, keep temporary files and coverage inside the repository."""
    if sys.platform == "win32":
        config.option.basetemp = config.option.basetemp or str(config.rootpath / ".test_tmp")
        os.environ.setdefault("COVERAGE_FILE", str(config.rootpath / ".test_tmp" / ".coverage"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: at the end one process would do it while the others wait."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its schema and nothing in it: to copy it takes less than to make another."""
    folder = tmp_path_factory.mktemp("empty")

    async def make() -> None:
        async with wiring.open_storage(load_settings(environment(folder))):
            pass

    asyncio.run(make())
    return folder / "hub.db"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL, started once."""
    from services.postgres_server import postgres_server  # noqa: PLC0415 - its driver is an extra

    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_database(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database() as url:
        yield url


@pytest.fixture
def postgres_url(postgres: PostgresServer, postgres_database: str) -> Iterator[str]:
    """The address of a database with the schema and nothing in it."""
    yield postgres_database
    postgres.clean(postgres_database)


@pytest.fixture(scope="session")
def mysql() -> Iterator[MysqlServer]:
    """A real MariaDB, started once."""
    from services.mysql_server import mysql_server  # noqa: PLC0415 - its driver is an extra

    with mysql_server() as server:
        yield server


@pytest.fixture
def mysql_url(mysql: MysqlServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database with the schema and nothing in it."""
    yield mysql.url
    mysql.clean(restart=request.config.getoption("--backend") == "mysql")


@pytest.fixture
def chosen_backend(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of the storage that `--backend` names, for tests that any storage passes."""
    name = str(request.config.getoption("--backend"))
    if name == "sqlite":
        return {}
    return {"backend": name, "database_url": str(request.getfixturevalue(f"{name}_url"))}


@pytest.fixture
async def start_hub(
    tmp_path: Path, empty_database: Path, chosen_backend: dict[str, str]
) -> AsyncGenerator[StartHub]:
    """Return a function that opens a hub with some settings, and a clock if one is given."""
    async with AsyncExitStack() as stack:

        async def start(clock: StillClock | None = None, **more: str) -> Api:
            chosen = load_settings(environment(tmp_path, **{**chosen_backend, **more}))
            if "db_path" not in more and not chosen.db_path.exists():
                shutil.copy(empty_database, chosen.db_path)
            if clock is None:
                app = wiring.build_app(chosen)
            else:
                app = create_app(
                    wiring.http_options(chosen), lambda: wiring.open_hub(chosen, clock)
                )
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url=BASE_URL)
            await stack.enter_async_context(client)
            return Api(client, app.state.hub)

        yield start


@pytest.fixture
async def api(start_hub: StartHub) -> Api:
    """The caller of contract section 15 before an empty hub: key `devkey`, persona `p1`."""
    opened: Api = await start_hub()
    return opened


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def timed(start_hub: StartHub, clock: StillClock) -> Api:
    """The same caller, before a hub whose time stands still."""
    opened: Api = await start_hub(clock)
    return opened


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Return a function that starts a server process in a folder (or two in the same one)."""
    servers: list[Server] = []

    def start(folder: str = "server", **more: str) -> Server:
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        servers.append(Server(place, more))
        return servers[-1].start()

    yield start

    for server in servers:
        server.close()


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    """A scripted OpenAI-compatible server for the proxy to ask."""
    with fake_upstream() as opened:
        yield opened
