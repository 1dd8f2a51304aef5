"""`plastic-memories doctor`"""

from __future__ import annotations

from dataclasses import asdict

import click

from plastic_memories import settings as configuration
from plastic_memories.adapters.sqlite.doctor import repair
from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.installation import embedded_database
from plastic_memories.cli.operations import doctor_checks
from plastic_memories.cli.operations.doctor_checks import FAIL, OK, WARN, Check
from plastic_memories.cli.operations.embedder_check import check_embedder
from plastic_memories.cli.output import Screen, counts_text
from plastic_memories.errors import InvalidSetting

_MARK = {OK: "✓", WARN: "!", FAIL: "✗"}
_STYLE = {OK: "green", WARN: "yellow", FAIL: "bold red"}


@click.command()
@click.option("--fix", is_flag=True, help="First rebuild the text index from the rows.")
@user_command
def doctor(options: CliOptions, fix: bool) -> None:
    """Check this installation for problems."""
    screen = Screen.for_options(options)
    if fix:
        _repair(screen)
    found = _run_checks(options)
    failed = [check for check in found if check.status == FAIL]
    if not screen.print_if_json({"ok": not failed, "checks": [asdict(check) for check in found]}):
        _print_checks(screen, found)
    if failed:
        raise click.exceptions.Exit(1)


def _run_checks(options: CliOptions) -> list[Check]:
    found = list(doctor_checks.program_checks())
    try:
        settings = configuration.load_settings()
    except InvalidSetting as error:
        return [*found, Check("settings", FAIL, error.message, "Correct it and try again.")]
    found.append(Check("settings", OK, f"read; database {settings.db_path}"))
    return [*found, *doctor_checks.installation_checks(settings, options), check_embedder(settings)]


def _repair(screen: Screen) -> None:
    settings = configuration.load_settings()
    database = embedded_database(settings)
    if not database.is_file():
        return
    with screen.progress("rebuilding the text index") as report:
        counts = repair(
            database, settings.busy_timeout_ms, lambda done, total: report("", done, total)
        )
    if not screen.as_json:
        screen.line(f"Rebuilt: {counts_text(counts)}", style="green")
        screen.line()


def _print_checks(screen: Screen, found: list[Check]) -> None:
    width = max(len(check.name) for check in found)
    for check in found:
        mark, style = _MARK[check.status], _STYLE[check.status]
        screen.line(
            f"{mark} {check.name:<{width}}  {check.found}", style=style * (style != "green")
        )
        if check.advice:
            screen.line(f"  {'':<{width}}  → {check.advice}", style="cyan")
    failed = sum(check.status == FAIL for check in found)
    warned = sum(check.status == WARN for check in found)
    screen.line()
    if failed:
        screen.line(f"{failed} failed.", style="bold red")
    elif warned:
        screen.line(f"No failures, {warned} with warnings.", style="yellow")
    else:
        screen.line("All checks passed.", style="bold green")


COMMANDS = {"doctor": doctor}
