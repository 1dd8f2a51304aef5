"""`plastic-memories archive`"""

from __future__ import annotations

from typing import Any

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen, one_line
from plastic_memories_client import ArchivedConversation, ArchivedTalk, AsyncPlasticMemoriesClient

_PAGE_SIZE = 200


@click.group()
def archive() -> None:
    """Read finished conversations."""


@archive.command(name="list")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@user_command
def list_archive(options: CliOptions, limit: int) -> None:
    """List finished conversations, the last begun first."""
    found: list[ArchivedTalk] = run_with_client(options, lambda client: _fetch(client, limit))
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [talk.model_dump(mode="json") for talk in found]}):
        return
    if not found:
        screen.line("No finished conversations.", style="dim")
        return
    rows = [
        [talk.session_id, talk.source_app, talk.start_time, talk.message_count,
         one_line(talk.summary.text, 120)]
        for talk in found
    ]  # fmt: skip
    screen.table(["session", "app", "started", "messages", "summary"], rows)


async def _fetch(client: AsyncPlasticMemoriesClient, limit: int) -> list[ArchivedTalk]:
    page = await client.archive_list(limit=min(limit, _PAGE_SIZE), bots="all")
    found = list(page.items)
    while page.next_cursor and len(found) < limit:
        page = await client.archive_list(limit=_PAGE_SIZE, bots="all", cursor=page.next_cursor)
        found += page.items
    return found[:limit]


@archive.command()
@click.argument("session_id")
@click.option("--app", "source_app", help="The app it was held in, if several use the session.")
@click.option("--branch", "branch_id", help="A branch of the session.")
@user_command
def show(
    options: CliOptions, session_id: str, source_app: str | None, branch_id: str | None
) -> None:
    """Print one finished conversation."""
    place: Any = {"source_app": source_app, "branch_id": branch_id, "bots": "all"}
    talk: ArchivedConversation = run_with_client(
        options, lambda client: client.archive_get(session_id, **place)
    )
    screen = Screen.for_options(options)
    if screen.print_if_json(talk.raw):
        return
    if talk.summary.text:
        screen.text(talk.summary.text, style="dim")
    for message in talk.messages:
        screen.line(f"{message.timestamp} {message.speaker or message.role}", style="cyan")
        screen.text(message.content, indent=2)


COMMANDS = {"archive": archive}
