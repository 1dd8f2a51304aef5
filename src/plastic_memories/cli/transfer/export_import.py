"""`plastic-memories export`, `import` and `rebuild`"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, Literal, cast

import click

from plastic_memories.cli.command_options import CliOptions, is_given, user_command
from plastic_memories.cli.hub_connection import HubConnection, run_with_hub
from plastic_memories.cli.output import Screen, counts_text, size_text
from plastic_memories.cli.transfer import from_mem0
from plastic_memories.formats.mem0_export import Mem0Export
from plastic_memories_client import ExportedFile, ImportUndone

_TRANSFER_TIMEOUT_S = 3600.0
_MAX_LINES_SHOWN = 10
_Format = Literal["jsonl", "markdown", "bundle"]
_FORMAT_BY_SUFFIX: dict[str, _Format] = {".md": "markdown", ".zip": "bundle"}


@click.command()
@click.argument("dest", type=click.Path(dir_okay=False, path_type=Path), default="-")
@click.option(
    "--format",
    "wanted",
    type=click.Choice(["jsonl", "markdown", "bundle"]),
    help="By default from the file name: .md, .zip, or JSON lines.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--to-archive",
    is_flag=True,
    help="Write it to the hub's archive, as JSON; the newest five are kept.",
)
@user_command
def export(
    options: CliOptions, dest: Path, wanted: str | None, force: bool, to_archive: bool
) -> None:
    """Export everything the user owns to a file.

    Without DEST it goes to standard output.
    """
    if to_archive:
        if str(dest) != "-" or wanted or force:
            raise click.UsageError("--to-archive names its file itself, and is always JSON.")
        _export_to_archive(options)
        return
    _export_to_file(options, dest, wanted, force)


def _export_to_file(options: CliOptions, dest: Path, wanted: str | None, force: bool) -> None:
    to_screen = str(dest) == "-"
    if to_screen and options.as_json:
        raise click.UsageError("With --json name a file to write: plastic-memories export FILE.")
    if dest.exists() and not force and not to_screen:
        raise click.ClickException(f"{dest} exists; --force overwrites it.")
    file_format = cast(_Format, wanted or _FORMAT_BY_SUFFIX.get(dest.suffix, "jsonl"))
    screen = Screen.for_options(options)

    async def work(connection: HubConnection) -> None:
        async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
            if not to_screen:
                with screen.progress(f"writing {dest}"):
                    await client.export_to(dest, file_format)
                return
            async for piece in client.export_iter(file_format):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()

    run_with_hub(options, work)
    if to_screen:
        return
    dest.chmod(0o600)
    answer = {"path": str(dest), "format": file_format, "bytes": dest.stat().st_size}
    if not screen.print_if_json(answer):
        screen.line(f"✓ {dest}  {size_text(dest.stat().st_size)}", style="green")


def _export_to_archive(options: CliOptions) -> None:
    screen = Screen.for_options(options)

    async def work(connection: HubConnection) -> ExportedFile:
        async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
            return await client.export_file()

    made = run_with_hub(options, work)
    if not screen.print_if_json({"path": made.path, "exported_at": made.exported_at}):
        screen.line(f"✓ {made.path}", style="green")


@click.command(name="import")
@click.argument(
    "source", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
@click.option("--undo", type=int, metavar="ID", help="Take back the import with this number.")
@click.option("--trust", is_flag=True, help="Trust the file: nothing waits for confirmation.")
@click.option(
    "--from",
    "system",
    type=click.Choice(["mem0", "legacy"]),
    help="The program that wrote the file.",
)
@click.option("--mem0-user", default="", metavar="NAME", help="Import only this mem0 user.")
@user_command
def import_file(
    options: CliOptions, source: Path | None, dry_run: bool, undo: int | None, **how: Any
) -> None:
    """Import an export: JSON lines or a bundle.

    From a file that this hub did not write for you, memories that are global or in every prompt
    (names, constraints, personas, rules) wait for confirmation, unless you give --trust.

    With --from mem0, import what its get_all() returns: JSON, or JSON lines. A memory goes to the
    persona that its agent_id names; with --persona all go to that one.

    With --from legacy, import a database file of the older program: everything of all its users,
    or of --user and --persona. The file stays as it was.

    With --undo, take back what an import added, except what was changed or used since.
    """
    if undo is not None:
        _undo_import(options, undo)
        return
    if source is None:
        raise click.UsageError("Name a file to import, or an import with --undo ID.")
    _import_file(options, source, dry_run, **how)


def _import_file(
    options: CliOptions, source: Path, dry_run: bool, *, trust: bool, system: str, mem0_user: str
) -> None:
    if trust and system:
        raise click.UsageError("--trust is for exports of this hub's own kind.")
    if mem0_user and system != "mem0":
        raise click.UsageError("--mem0-user goes with --from mem0.")
    screen = Screen.for_options(options)
    if system == "legacy":
        answer = _import_legacy(screen, options, source, dry_run)
    else:
        theirs = from_mem0.load_export_file(source, mem0_user) if system else None
        if theirs is not None:
            from_mem0.choose_persona(theirs, options.persona, is_for_all=is_given("persona"))
        answer = _import_export(screen, options, source, theirs, dry_run=dry_run, trust=trust)
    if not screen.print_if_json(answer):
        _print_report(screen, answer, dry_run)
    if _is_unusable(answer):
        raise click.exceptions.Exit(1)


def _undo_import(options: CliOptions, import_id: int) -> None:
    async def work(connection: HubConnection) -> ImportUndone:
        async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
            return await client.import_undo(import_id)

    undone = run_with_hub(options, work)
    screen = Screen.for_options(options)
    if screen.print_if_json(undone.raw):
        return
    if undone.counts:
        screen.line(f"✓ taken back: {counts_text(undone.counts)}", style="green")
    else:
        screen.line("! nothing to take back", style="yellow")
    for kind, ids in undone.kept.items():
        shown = " ".join(f"#{row_id}" for row_id in ids[:_MAX_LINES_SHOWN])
        more = " …" if len(ids) > _MAX_LINES_SHOWN else ""
        screen.line(f"  changed or used since, kept: {kind} {shown}{more}", style="yellow")


def _import_legacy(
    screen: Screen, options: CliOptions, source: Path, dry_run: bool
) -> dict[str, Any]:
    from plastic_memories.cli.transfer import from_legacy  # it opens the database by itself

    export = from_legacy.load_database(source, options)
    with screen.progress(f"importing {source}") as report:
        return asyncio.run(from_legacy.import_database(export, dry_run, report))


def _import_export(
    screen: Screen,
    options: CliOptions,
    source: Path,
    theirs: Mem0Export | None,
    *,
    dry_run: bool,
    trust: bool,
) -> dict[str, Any]:
    """Send a file of ours, or the memories of a mem0 export, to the hub."""

    async def work(connection: HubConnection) -> dict[str, Any]:
        with screen.progress(f"importing {source}") as report:
            if theirs is not None:
                return await from_mem0.import_memories(connection, theirs, dry_run, report)
            async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
                return (await client.import_(source, dry_run=dry_run, trust=trust)).raw

    return run_with_hub(options, work)


def _is_unusable(answer: dict[str, Any]) -> bool:
    """Return whether nothing of the file could be used."""
    return bool(answer.get("skipped")) and not answer.get("counts") and not answer.get("conflicts")


def _print_outcome(screen: Screen, answer: dict[str, Any], dry_run: bool) -> None:
    would = "would be imported" if dry_run else "imported"
    counts = counts_text(answer.get("counts") or {})
    if _is_unusable(answer):
        screen.line("✗ nothing of this file can be imported", style="bold red")
    elif not answer.get("counts"):
        screen.line(f"! nothing {would}", style="yellow")
    elif answer.get("skipped") or answer.get("conflicts"):
        screen.line(f"! {would}: {counts}; not all of the file", style="yellow")
    else:
        screen.line(f"✓ {would}: {counts}", style="green")


def _print_report(screen: Screen, answer: dict[str, Any], dry_run: bool) -> None:
    _print_outcome(screen, answer, dry_run)
    for user_id, counts in (answer.get("users") or {}).items():
        screen.line(f"  {user_id}: {counts_text(counts)}")
    if waiting := (answer.get("counts") or {}).get("waiting"):
        screen.line(
            f"  {waiting} of them wait for confirmation: this hub did not write the file for you. "
            "See plastic-memories inbox; --trust imports such a file as it is.",
            style="yellow",
        )
    if answer.get("import_id") and answer.get("counts"):
        undo = f"plastic-memories import --undo {answer['import_id']}"
        screen.line(f"  to take it back: {undo}", style="dim")
    conflicts: list[dict[str, Any]] = answer.get("conflicts") or []
    for one in conflicts[:_MAX_LINES_SHOWN]:
        screen.line(
            f"  {_place_text(one)}: {one.get('type')} {one.get('key')} exists already "
            f"(#{one.get('active_memory_id')}) and was left as it is",
            style="yellow",
        )
    skipped: list[dict[str, Any]] = answer.get("skipped") or []
    for one in skipped[:_MAX_LINES_SHOWN]:
        screen.line(f"  {_place_text(one)}: {one.get('reason')}", style="yellow")
    if (more := len(conflicts) + len(skipped) - 2 * _MAX_LINES_SHOWN) > 0:
        screen.line(f"  and more ({more}); --json shows all", style="dim")


def _place_text(one: dict[str, Any]) -> str:
    """Return where in the file it was: a line, or a table and a row."""
    where = one.get("line")
    return where if isinstance(where, str) else f"line {where}"


@click.command()
@click.argument("persona_ids", nargs=-1, metavar="[PERSONA]...")
@user_command
def rebuild(options: CliOptions, persona_ids: tuple[str, ...]) -> None:
    """Rebuild the text index and vectors of the user's personas.

    Without a name and without --persona, rebuild all of them. A running hub rebuilds the vectors
    in the background.
    """
    screen = Screen.for_options(options)
    chosen = [*persona_ids, *([options.persona] if is_given("persona") else [])]

    async def work(connection: HubConnection) -> dict[str, dict[str, Any]]:
        done: dict[str, dict[str, Any]] = {}
        async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
            names = chosen or [one.persona_id for one in await client.persona_list()]
            with screen.progress("rebuilding") as report:
                for number, name in enumerate(names):
                    report(f"rebuilding {name}", number, len(names))
                    done[name] = (await client.rebuild(name)).counts
        return done

    done = run_with_hub(options, work)
    if not screen.print_if_json({"personas": done}):
        for name, counts in done.items():
            screen.line(f"✓ {name}: {counts_text(counts)}", style="green")


COMMANDS = {"export": export, "import": import_file, "rebuild": rebuild}
