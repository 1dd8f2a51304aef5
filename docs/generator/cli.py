"""The reference of the command line, from the commands' own help."""

from __future__ import annotations

from collections.abc import Iterator

import click

from docs.generator.markdown import GENERATED, pages
from plastic_memories.cli.main import main

_WIDTH = 88
_INTRODUCTION = """# The command line

`plastic-memories COMMAND --help` says the same. In a checkout the program lies in `.venv/bin/`
after `make run` or `make test`.

- Commands about memories speak to the hub that runs on this machine; if none runs, they open
  its database themselves, behind the same front door. `--url` names another hub.
- `serve`, `keys`, `backup`, `restore` and `migrate` are about this installation and read its
  [settings](settings.md).
- `--json` prints one JSON document on standard output and nothing else there.
- `PLASTIC_MEMORIES_URL`, `PLASTIC_MEMORIES_API_KEY`, `PLASTIC_MEMORIES_USER` and
  `PLASTIC_MEMORIES_PERSONA` stand for the options of those names.
- Exit status: 0 done, 1 refused or failed (one line says why, with the [error
  code](errors.md)), 2 the command line was not understood."""


def page() -> str:
    """Return the whole page."""
    return pages(GENERATED, _INTRODUCTION, *(_section(context) for context in commands()))


def commands() -> Iterator[click.Context]:
    """Yield a context for the program and for every command below it, in the order of the help."""
    yield from _below(main, None, "plastic-memories")


def _below(
    command: click.Command, parent: click.Context | None, name: str
) -> Iterator[click.Context]:
    # With the command's own settings, as when it runs: they name `-h`, and click remembers it.
    given = {**command.context_settings, "terminal_width": _WIDTH}
    context = click.Context(command, parent=parent, info_name=name, **given)
    yield context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _below(found, context, child)


def _section(context: click.Context) -> str:
    level = "##" if context.parent is None or context.parent.parent is None else "###"
    return f"{level} {context.command_path}\n\n```text\n{context.get_help()}\n```"
