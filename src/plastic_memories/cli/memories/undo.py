"""`plastic-memories undo`"""

from __future__ import annotations

import time

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen, local_time_text
from plastic_memories.rules.lifecycle.consolidation import ChangeKind
from plastic_memories_client import AsyncPlasticMemoriesClient, AuditEntry

_DAY_S = 86_400.0
_UNDOABLE_EVENTS = frozenset(f"memory.{kind.value}" for kind in ChangeKind)


@click.command()
@click.argument("audit_id", type=click.IntRange(1), required=False)
@click.option(
    "--days", type=click.IntRange(1), default=30, show_default=True, help="Days to look back."
)
@click.option(
    "--forget",
    "forgets",
    is_flag=True,
    help="Undo a “forget that” from the chat, before it is final; without a number, list them.",
)
@user_command
def undo(options: CliOptions, audit_id: int | None, days: int, forgets: bool) -> None:
    """Undo a change that the hub made by itself.

    Without a number, list such changes.
    """
    screen = Screen.for_options(options)
    if forgets:
        _undo_forget(options, screen, audit_id)
        return
    if audit_id is not None:
        done = run_with_client(options, lambda client: client.undo(audit_id))
        if not screen.print_if_json(done.raw):
            screen.line(f"✓ #{done.memory_id} is {done.memory_status} again", style="green")
        return
    found: list[AuditEntry] = run_with_client(
        options, lambda client: _hub_changes(client, options.persona, days)
    )
    if screen.print_if_json({"items": [line.model_dump(mode="json") for line in found]}):
        return
    if not found:
        screen.line("The hub has changed nothing by itself.", style="dim")
        return
    rows = [
        [line.id, line.event, line.memory_id, line.data.get("reason", ""), local_time_text(line.ts)]
        for line in found
    ]
    screen.table(["change", "what", "memory", "why", "when"], rows)


def _undo_forget(options: CliOptions, screen: Screen, forget_id: int | None) -> None:
    if forget_id is not None:
        done = run_with_client(options, lambda client: client.undo_forget(forget_id))
        if not screen.print_if_json(done.raw):
            screen.line(f"✓ {forget_id} is not forgotten · 已恢复", style="green")
        return
    found = run_with_client(options, lambda client: client.pending_forgets())
    if screen.print_if_json(found.raw):
        return
    items = found.raw["items"]
    if not items:
        screen.line("Nothing waits to be forgotten.", style="dim")
        return
    rows = [
        [one["forget_id"], " / ".join(one["texts"]), local_time_text(one["final_at"])]
        for one in items
    ]
    screen.table(["forget", "what", "final"], rows)


async def _hub_changes(
    client: AsyncPlasticMemoriesClient, persona_id: str, days: int
) -> list[AuditEntry]:
    """Return the hub's own changes of the last days, page after page."""
    found: dict[int, AuditEntry] = {}
    since = time.time() - days * _DAY_S
    while page := [line for line in await client.audit(since=since) if line.id not in found]:
        found |= {line.id: line for line in page if line.id is not None}
        since = max(line.ts or 0.0 for line in page)
    return [
        line
        for line in found.values()
        if line.event in _UNDOABLE_EVENTS and line.persona_id == persona_id
    ]


COMMANDS = {"undo": undo}
