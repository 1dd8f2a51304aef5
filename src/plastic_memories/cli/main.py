"""The `plastic-memories` command: load subcommands, and print errors as one line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from plastic_memories import __version__
from plastic_memories.cli.command_options import shared_options
from plastic_memories.cli.language import tr
from plastic_memories.errors import PlasticMemoriesError

_PACKAGE = "plastic_memories.cli"
# Command → (module, summary). A module is imported when its command runs, not for the list of
# commands: help must appear at once.
COMMANDS = {
    "serve": ("operations.serve", "Start the hub on this machine."),
    "console": (
        "operations.console_link",
        "Open the web console, signed in by a link that works once.",
    ),
    "demo": ("personas.demo", "Play a short conversation and show what is remembered."),
    "remember": ("memories.remember_and_recall", "Remember a text."),
    "recall": ("memories.remember_and_recall", "Recall memories relevant to a text, best first."),
    "list": ("memories.remember_and_recall", "List memories, newest first."),
    "archive": ("memories.archived_conversations", "Read finished conversations."),
    "events": ("operations.jobs_and_events", "Show upcoming birthdays, plans and other dates."),
    "inbox": ("memories.inbox", "Review candidates that wait for confirmation."),
    "undo": ("memories.undo", "Undo a change that the hub made by itself."),
    "forget": ("memories.forget", "Forget for good, with a receipt."),
    "erase-user": ("memories.erase_user", "Erase everything of the user, in every persona."),
    "goals": ("personas.goals", "Manage the user's goals."),
    "persona": ("personas.persona", "Manage personas: the characters that remember."),
    "markdown": ("transfer.markdown_sync", "Manage the user's Markdown pages: sync, list, show."),
    "export": ("transfer.export_import", "Export everything the user owns to a file."),
    "import": ("transfer.export_import", "Import an export: JSON lines or a bundle."),
    "rebuild": (
        "transfer.export_import",
        "Rebuild the text index and vectors of the user's personas.",
    ),
    "embedder": ("operations.embedder", "Manage models for search by meaning."),
    "jobs": (
        "operations.jobs_and_events",
        "Manage the jobs that turn conversations into memories.",
    ),
    "mcp": ("mcp.speak", "Serve MCP over standard input and output, for editors and agents."),
    "worker": ("operations.worker", "Run jobs in a separate process."),
    "keys": ("operations.keys", "Create, list and revoke API keys."),
    "rekey": (
        "transfer.rekey_bots",
        "Move memories and messages to another bot or session.",
    ),
    "backup": ("operations.backup", "Copy the database to one file, while the hub runs."),
    "restore": ("operations.backup", "Replace the database with a backup."),
    "migrate": ("operations.backup", "Migrate the database to the schema of this release."),
    "migrate-data": (
        "operations.migrate_data",
        "Copy everything to another database, and compare the two.",
    ),
    "doctor": ("operations.doctor", "Check this installation for problems."),
    "version": ("version", "Show the version."),
}


class CommandGroup(click.Group):
    """A group that prints our errors as one line and exits 1; bugs still show a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{_PACKAGE}.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the nearest one if there is none of that name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = tr(" Did you mean {name}?", name=near[0]) if near else ""
            ctx.fail(tr("No such command {name!r}.", name=name) + hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(tr("Commands")):
            formatter.write_dl([(name, tr(text)) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        with _one_line_errors():
            return super().invoke(ctx)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except PlasticMemoriesError as error:
        raise click.ClickException(f"{error.message} ({error.code})") from error
    except OSError as error:
        if error.filename is None:
            raise
        raise click.ClickException(f"{error.filename}: {error.strerror} (os_error)") from error
    except _client_errors() as error:
        raise click.ClickException(_hub_error_text(error)) from error


def _client_errors() -> tuple[type[Exception], ...]:
    # The SDK is slow to import. If it is not loaded, it has raised nothing.
    if "plastic_memories_client" not in sys.modules:
        return ()
    from plastic_memories_client import PlasticMemoriesClientError

    return (PlasticMemoriesClientError,)


def _hub_error_text(error: Exception) -> str:
    """Return the error with the field that a validation error is about: the message omits it."""
    detail = getattr(error, "detail", None)
    if getattr(error, "code", "") == "validation_error" and isinstance(detail, list) and detail:
        first = detail[0]
        place = ".".join(str(part) for part in first.get("loc", ())[1:])
        return f"{place}: {first.get('msg', '')} ({getattr(error, 'code', '')})"
    return str(error)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="plastic-memories")
@shared_options(environment=True)
def main() -> None:
    """The memory every AI companion plugs into.

    Commands about memories talk to the hub that runs on this machine; if none runs, they open its
    database themselves. Start with: plastic-memories demo
    """
