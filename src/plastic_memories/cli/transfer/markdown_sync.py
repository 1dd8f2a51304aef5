"""`plastic-memories markdown`"""

from __future__ import annotations

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen
from plastic_memories_client import Page, PageIndex, PageSync


@click.group()
def markdown() -> None:
    """Manage the user's Markdown pages: sync, list, show."""


@markdown.command()
@user_command
def sync(options: CliOptions) -> None:
    """Synchronize core pages with memories, now and from now on."""
    done: list[PageSync] = run_with_client(options, lambda client: client.pages_sync())
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [one.model_dump(mode="json") for one in done]}):
        return
    for one in done:
        screen.line(
            f"✓ {one.page}: {len(one.added)} imported, {len(one.changed)} changed, "
            f"{len(one.revoked)} revoked, {one.written} exported",
            style="green",
        )
        for root in one.conflicts:
            screen.line(f"  both sides changed #{root}: both are kept, choose one", style="yellow")
        for line in one.skipped:
            screen.line(f"  line {line.line} is not remembered: {line.reason}", style="yellow")


@markdown.command(name="list")
@user_command
def list_pages(options: CliOptions) -> None:
    """List titles and ids of the pages."""
    found: PageIndex = run_with_client(options, lambda client: client.pages())
    screen = Screen.for_options(options)
    if screen.print_if_json(found.raw):
        return
    rows = [[page.id, page.title] for page in found.extended]
    if found.core is not None:
        rows.insert(0, [found.core.id, found.core.title])
    if not rows:
        screen.line("No pages.", style="dim")
        return
    screen.table(["id", "title"], rows)


@markdown.command()
@click.argument("page_id")
@user_command
def show(options: CliOptions, page_id: str) -> None:
    """Print one page, such as memory://core."""
    page: Page = run_with_client(options, lambda client: client.page(page_id))
    screen = Screen.for_options(options)
    if not screen.print_if_json(page.raw):
        screen.text(page.text)


COMMANDS = {"markdown": markdown}
