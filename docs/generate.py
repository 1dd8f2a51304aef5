"""`python -m docs.generate`: write the generated files; `--check` only says which are stale."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from clients.python.generator import sync_client, wire_types

from docs.generator import api, cli, errors, http_file, openapi, plugins, settings

ROOT = Path(__file__).resolve().parent.parent

PAGES: dict[str, Callable[[], str]] = {
    # The SDK's own come first: the commands, which a later page describes, import it.
    **sync_client.files(),
    **wire_types.files(),
    "src/plastic_memories/http/static/openapi.json": openapi.page,
    "docs/reference/api.md": api.page,
    "docs/reference/settings.md": settings.page,
    "docs/reference/errors.md": errors.page,
    "docs/reference/cli.md": cli.page,
    "docs/reference/plugins.md": plugins.page,
    "docs/requests.http": http_file.page,
    "examples/requests.http": http_file.page,
}


def is_stale(name: str) -> bool:
    """Return whether a page on the disk differs from what would be written now."""
    path = ROOT / name
    return not path.is_file() or path.read_text(encoding="utf-8") != PAGES[name]()


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page is stale.")
def main(check: bool) -> None:
    """Write the generated files again."""
    stale = []
    for name, page in PAGES.items():
        if not is_stale(name):
            continue
        stale.append(name)
        click.echo(f"{'stale' if check else 'written'}: {name}")
        if not check:
            path = ROOT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page(), encoding="utf-8")
    if check and stale:
        click.echo("Run: make docs", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
