"""`plastic-memories version`"""

from __future__ import annotations

import platform

import click

from plastic_memories import __version__
from plastic_memories.adapters.sqlite.doctor import sqlite_version
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.output import Screen


@click.command()
@local_command
def version(options: CliOptions) -> None:
    """Show the version."""
    known = {
        "version": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite_version(),
    }
    screen = Screen.for_options(options)
    if not screen.print_if_json(known):
        screen.line(f"plastic-memories {__version__}")
        screen.line(f"Python {known['python']}, SQLite {known['sqlite']}", style="dim")


COMMANDS = {"version": version}
