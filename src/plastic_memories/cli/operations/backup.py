"""`plastic-memories backup`, `restore` and `migrate`"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from pathlib import Path

import click

from plastic_memories import settings as configuration
from plastic_memories.adapters.sqlite import backup as copies
from plastic_memories.adapters.sqlite.doctor import schema_versions
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.installation import (
    check_folders,
    embedded_database,
    open_installed_storage,
)
from plastic_memories.cli.output import Screen, counts_text, size_text
from plastic_memories.settings import Settings

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("dest", type=_FILE)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@local_command
def backup(options: CliOptions, dest: Path, force: bool) -> None:
    """Copy the database to one file, while the hub runs.

    If DEST is a folder, the copy is named after the day and hour. Use this to move a database:
    copying its file by hand loses what is still in the log beside it.
    """
    settings = configuration.load_settings()
    database = embedded_database(settings)
    path = dest / f"plastic_memories-{_file_timestamp()}.db" if dest.is_dir() else dest
    screen = Screen.for_options(options)
    if path.exists() and not force:
        raise click.ClickException(f"{path} exists; --force overwrites it.")
    with screen.progress("copying") as report:
        copy = copies.back_up(database, path, overwrite=force, progress=report)
    pages = _page_folders(settings)
    answer = {
        "path": str(copy.path),
        "bytes": copy.size_bytes,
        "counts": dict(copy.counts),
        "not_in_it": [str(folder) for folder in pages],
    }
    if not screen.print_if_json(answer):
        screen.line(f"✓ {copy.path}  {size_text(copy.size_bytes)}, checked", style="green")
        screen.line(f"  {counts_text(copy.counts)}")
        for folder in pages:
            screen.line(f"  Markdown pages are files: copy {folder} as well", style="yellow")


def _page_folders(settings: Settings) -> list[Path]:
    """Return the existing folders of Markdown pages."""
    folders = [settings.memory_root / name for name in ("users", "tenants")]
    return [folder for folder in folders if folder.is_dir()]


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@local_command
def restore(options: CliOptions, source: Path, yes: bool) -> None:
    """Replace the database with a backup.

    The hub may run meanwhile. What was forgotten since the backup stays forgotten. The replaced
    database is kept beside it, in case this was the wrong backup: what is forgotten later is
    forgotten there too, and `doctor` names it until it is deleted.
    """
    settings = configuration.load_settings()
    database = embedded_database(settings)
    check_folders(settings)
    if not yes:
        if options.as_json:
            raise click.UsageError("--json cannot ask for confirmation: give --yes.")
        click.confirm(f"Replace {database} with {source}?", abort=True)
    keep = database.with_name(f"{database.name}{copies.KEPT_MARK}{_file_timestamp()}.db")
    screen = Screen.for_options(options)
    with screen.progress("copying") as report:
        done = copies.restore(source, database, keep=keep, now=time.time(), progress=report)
    _print_restore_report(screen, source, done)
    if done.problems:
        raise click.ClickException(f"{done.problems[0]} (run: plastic-memories doctor)")


def _print_restore_report(screen: Screen, source: Path, done: copies.RestoreReport) -> None:
    answer = {
        "restored": str(source),
        "replaced": None if done.replaced is None else str(done.replaced),
        "migrations": done.migrations,
        "replayed": None if done.replayed is None else asdict(done.replayed),
        "note": done.note,
        "counts": dict(done.counts),
        "problems": done.problems,
    }
    if screen.print_if_json(answer):
        return
    screen.line(f"✓ {source} restored: {counts_text(done.counts)}", style="green")
    if done.migrations:
        screen.line(f"  migrated: {', '.join(done.migrations)}")
    if done.replayed is not None:
        screen.line(f"  replayed since the backup: {counts_text(asdict(done.replayed))}")
    if done.note:
        screen.line(f"  {done.note}", style="yellow")
    if done.replaced is not None:
        screen.line(f"  The replaced database is kept: {done.replaced}", style="dim")
        screen.line("  Delete it when you no longer need it.", style="dim")


@click.command()
@local_command
def migrate(options: CliOptions) -> None:
    """Migrate the database to the schema of this release."""
    settings = configuration.load_settings()
    database = embedded_database(settings)
    check_folders(settings)
    before, wanted = schema_versions(database)

    async def run() -> None:
        # Opening the storage migrates it, as when a server starts.
        async with open_installed_storage(settings):
            pass

    asyncio.run(run())
    after, _ = schema_versions(database)
    screen = Screen.for_options(options)
    answer = {"path": str(database), "before": before, "after": after, "wanted": wanted}
    if screen.print_if_json(answer):
        return
    if before == after:
        screen.line(f"✓ {database} has schema {after}: nothing to do", style="green")
    elif before == 0:
        screen.line(f"✓ {database} created, with schema {after}", style="green")
    else:
        screen.line(f"✓ {database}: schema {before} → {after}", style="green")


def _file_timestamp() -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.localtime())


COMMANDS = {"backup": backup, "restore": restore, "migrate": migrate}
