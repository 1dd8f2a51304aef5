"""`plastic-memories migrate-data`: move everything to another database."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import click

from plastic_memories.adapters.sqlite.copying import copy_database
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.language import tr
from plastic_memories.cli.output import Screen
from plastic_memories.errors import InvalidSetting

_ENGINES = {
    "sqlite": "sqlite", "postgresql": "postgres", "postgres": "postgres", "mysql": "mysql",
    "mariadb": "mysql",
}  # fmt: skip
_ADDRESSES = "sqlite:///path/to/file.db, postgresql://user:password@host/name or mysql://…"


@click.command("migrate-data")
@click.option("--from", "source", required=True, help=f"The source: {_ADDRESSES}.")
@click.option("--to", "target", required=True, help="The target, empty: the same kinds of address.")
@local_command
def migrate_data(options: CliOptions, source: str, target: str) -> None:
    """Copy everything to another database, and compare the two.

    The source stays as it is. Stop the hub first: what is written meanwhile is not copied. After
    an interruption the same command goes on where it was.
    """
    screen = Screen.for_options(options)
    with (
        _open_end(source, "open_source") as here,
        _open_end(target, "open_target") as there,
        screen.progress("copying") as report,
    ):
        counts = copy_database(here, there, report)
    rows = sum(counts.values())
    if not screen.print_if_json({"rows": rows, "tables": dict(counts)}):
        done = tr("✓ {rows} rows in {tables} tables, compared", rows=rows, tables=len(counts))
        screen.line(done, style="green")
        then = tr("Point the hub at the target: BACKEND, DATABASE_URL or DB_PATH.")
        screen.line(f"  {then}", style="dim")


def _open_end(address: str, how: str) -> AbstractContextManager[Any]:
    """Open one end by the kind of its address; raise `InvalidSetting` for another kind."""
    scheme, _, rest = address.partition("://")
    if scheme not in _ENGINES or not rest:
        # Not the address itself: it may hold a password.
        raise InvalidSetting(f"Not an address of a database: {_ADDRESSES}.")
    name = _ENGINES[scheme]
    try:
        engine = import_module(f"plastic_memories.adapters.{name}.copying")
    except ImportError as error:
        raise InvalidSetting(
            f"{scheme} needs a driver: pip install '.[{name}]' in the folder of Plastic Memories."
        ) from error
    opened: AbstractContextManager[Any] = getattr(engine, how)(
        rest.removeprefix("/") if name == "sqlite" else address
    )
    return opened


COMMANDS = {"migrate-data": migrate_data}
