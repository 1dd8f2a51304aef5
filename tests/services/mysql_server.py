"""A real MariaDB (apt: mariadb-server), or a server that is named."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest
from pymysql.cursors import Cursor

from plastic_memories.adapters.mysql.connection import MysqlEngine, connection_parameters
from plastic_memories.adapters.mysql.migrate import migrate_schema
from services.real_server import free_port, not_root, private_folder, running_server

URL_VARIABLE = "PLASTIC_MEMORIES_TEST_MYSQL_URL"
_KEPT = ("schema_version", "installation_id", "tombstone_secret", "terms_version")


@dataclass
class MysqlServer:
    url: str

    def prepare(self) -> None:
        """Make the database anew, with its schema."""
        found = connection_parameters(self.url)
        name = found.pop("database")
        db = pymysql.connect(**found, autocommit=True)
        with db.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
            cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        db.close()
        db = MysqlEngine(self.url).connect(writing=True)
        migrate_schema(db)
        db.close()

    def clean(self, *, restart: bool = False) -> None:
        """Empty every table; if asked, start its numbers again, which takes far longer."""
        db = MysqlEngine(self.url).connect(writing=True)
        with db.cursor() as cursor:
            cursor.execute("SHOW TABLES")
            for (table,) in cursor.fetchall():
                if table != "meta":
                    cursor.execute(f'DELETE FROM "{table}"')
            cursor.execute('DELETE FROM meta WHERE "key" NOT IN %s', (_KEPT,))
            db.commit()
            if restart:
                _restart_numbers(cursor)
        db.close()


def _restart_numbers(cursor: Cursor) -> None:
    cursor.execute(
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_schema = database() AND auto_increment > 1"
    )
    for (table,) in cursor.fetchall():
        cursor.execute(f'ALTER TABLE "{table}" AUTO_INCREMENT = 1')


@contextmanager
def mysql_server() -> Iterator[MysqlServer]:
    """Yield the server that is named in the environment, or else start one."""
    if named := os.environ.get(URL_VARIABLE):
        server = MysqlServer(named)
        server.prepare()
        yield server
        return
    with private_folder() as folder, started_mysql(folder) as server:
        server.prepare()
        yield server


@contextmanager
def started_mysql(folder: Path, port: int | None = None) -> Iterator[MysqlServer]:
    """Start MariaDB in a folder, which it initialises first if it is empty."""
    binary = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if binary is None:
        pytest.fail(f"apt-get install mariadb-server, or name a server in {URL_VARIABLE}")
    data = folder / "data"
    if not data.exists():
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
             "--auth-root-authentication-method=normal"],
            check=True, capture_output=True, cwd=folder, **not_root(),
        )  # fmt: skip
    port = port or free_port()
    command = [
        binary, "--no-defaults", f"--datadir={data}", "--bind-address=127.0.0.1",
        f"--port={port}", f"--socket={folder / 's'}", f"--pid-file={folder / 'pid'}",
        "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
        "--skip-log-bin", "--max-connections=200",
    ]  # fmt: skip
    url = f"mysql://root@127.0.0.1:{port}/plastic_tests"
    with running_server(command, folder, lambda: _answers(port)):
        yield MysqlServer(url)


def _answers(port: int) -> bool:
    try:
        pymysql.connect(host="127.0.0.1", port=port, user="root", connect_timeout=2).close()
    except pymysql.OperationalError:
        return False
    return True
