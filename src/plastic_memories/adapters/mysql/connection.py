"""Opens connections to MySQL or MariaDB, and says what their errors mean."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from pymysql.constants import CLIENT, ER, FIELD_TYPE
from pymysql.converters import conversions

from plastic_memories.adapters.mysql.mysql_session import MysqlConnection
from plastic_memories.adapters.sql.server_database import Failure
from plastic_memories.errors import InvalidSetting

_SCHEMES = ("mysql", "mariadb")
_DEFAULT_PORT = 3306
_CONFLICT_CODES = frozenset({ER.LOCK_DEADLOCK})
_LIMIT_CODES = frozenset({ER.DATA_TOO_LONG, ER.TOO_LONG_KEY})
# Numbers from 2000 on are the client's own: no connection, or one that broke.
_CLIENT_ERRORS = 2
_AWAY_CODES = frozenset({
    ER.CON_COUNT_ERROR, ER.SERVER_SHUTDOWN, ER.LOCK_WAIT_TIMEOUT, ER.DISK_FULL,
    ER.RECORD_FILE_FULL, ER.OUT_OF_RESOURCES, ER.OPTION_PREVENTS_STATEMENT, ER.QUERY_INTERRUPTED,
    1792, 1927, 1969,  # read-only; killed; stopped for its time
})  # fmt: skip
# Standard SQL: names in double quotes, a backslash is itself, nothing is cut off silently.
_MODE = "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
# Sums of whole numbers come as decimals.
_CONVERSIONS: dict[Any, Any] = {**conversions, FIELD_TYPE.DECIMAL: int, FIELD_TYPE.NEWDECIMAL: int}


def connection_parameters(url: str) -> dict[str, Any]:
    """Return what the driver asks for; raise `InvalidSetting` for an address of another kind."""
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname or not parts.path.strip("/"):
        raise InvalidSetting(
            "PLASTIC_MEMORIES_DATABASE_URL: not an address such as mysql://user:password@host/name."
        )
    options = dict(parse_qsl(parts.query))
    return {
        "host": parts.hostname,
        "port": parts.port or _DEFAULT_PORT,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.strip("/")),
        **({"ssl_ca": options["ssl_ca"]} if "ssl_ca" in options else {}),
    }


@dataclass(frozen=True, slots=True)
class MysqlEngine:
    """Where the server is, and how long it is waited for."""

    url: str
    timeout_s: int = 60
    lock_timeout_s: int = 20

    def connect(self, *, writing: bool) -> MysqlConnection:
        """Open a connection whose transactions are writes, or else snapshots that cannot write."""
        db = pymysql.connect(
            **connection_parameters(self.url),
            charset="utf8mb4",
            connect_timeout=5,
            read_timeout=self.timeout_s,
            write_timeout=self.timeout_s,
            # How many rows a change has met, not how many it made different.
            client_flag=CLIENT.FOUND_ROWS,
            conv=_CONVERSIONS,
            sql_mode=_MODE,
            autocommit=True,
        )
        with db.cursor() as cursor:
            cursor.execute(f"SET NAMES utf8mb4 COLLATE {collation(db)}")
            cursor.execute(f"SET SESSION innodb_lock_wait_timeout = {self.lock_timeout_s}")
            level = "READ COMMITTED" if writing else "REPEATABLE READ"
            access = "READ WRITE" if writing else "READ ONLY"
            cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}, {access}")
        db.autocommit(False)
        return db

    def commit(self, connection: MysqlConnection) -> None:
        connection.commit()

    def rollback(self, connection: MysqlConnection) -> None:
        connection.rollback()

    def close(self, connection: MysqlConnection) -> None:
        with suppress(pymysql.Error, OSError):
            connection.close()

    def is_broken(self, connection: MysqlConnection) -> bool:
        return not connection.open

    def failure(self, error: BaseException) -> Failure | None:
        code = error.args[0] if isinstance(error, pymysql.Error) and error.args else None
        if code in _CONFLICT_CODES:
            return Failure.CONFLICT
        if code in _LIMIT_CODES:
            return Failure.LIMIT
        return Failure.AWAY if _is_away(error, code) else None


def _is_away(error: BaseException, code: Any) -> bool:
    if isinstance(error, pymysql.InterfaceError | OSError):
        return True
    is_clients = isinstance(code, int) and code // 1000 == _CLIENT_ERRORS
    return isinstance(error, pymysql.Error) and (is_clients or code in _AWAY_CODES)


def collation(db: MysqlConnection) -> str:
    """Return what compares text by code point, with the spaces at its end."""
    is_mariadb = "mariadb" in server_version(db).lower()
    return "utf8mb4_nopad_bin" if is_mariadb else "utf8mb4_0900_bin"


def server_version(db: MysqlConnection) -> str:
    return str(db.get_server_info())  # type: ignore[no-untyped-call]
