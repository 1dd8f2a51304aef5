"""Opens connections to PostgreSQL, and says which of its errors pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.numeric import Int8Dumper

from plastic_memories.adapters.postgres.postgres_session import PostgresConnection

# "Try later": the server is away, overloaded, starting or stopping, a standby, or out of room.
TRANSIENT_ERRORS = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
)
# Two transactions stood in each other's way: the work is run again.
CONFLICT_ERRORS = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
# Names that are too long together for a key of an index.
LIMIT_ERRORS = (psycopg.errors.ProgramLimitExceeded,)

_NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "application_name": "plastic-memories",
}


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Where the server is, and after how many milliseconds it stops what we asked."""

    url: str
    statement_timeout_ms: int = 60_000
    lock_timeout_ms: int = 20_000


def network_options(url: str) -> dict[str, Any]:
    """Return how soon a server that does not answer is given up, unless the address says it."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in _NETWORK.items() if name not in given}


def connect(options: ConnectionOptions, *, writing: bool) -> PostgresConnection:
    """Open a connection whose transactions are writes, or else snapshots that cannot write."""
    db = psycopg.connect(options.url, **network_options(options.url))
    # One type for every number: a statement is prepared once, not once for each size.
    db.adapters.register_dumper(int, Int8Dumper)
    with db.transaction():
        for name, value in (
            ("statement_timeout", options.statement_timeout_ms),
            ("lock_timeout", options.lock_timeout_ms),
            # A process that hangs in the middle of a write must not hold its locks for ever.
            ("idle_in_transaction_session_timeout", 10 * options.statement_timeout_ms),
        ):
            db.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
    db.read_only = not writing
    level = psycopg.IsolationLevel
    db.isolation_level = level.READ_COMMITTED if writing else level.REPEATABLE_READ
    return db
