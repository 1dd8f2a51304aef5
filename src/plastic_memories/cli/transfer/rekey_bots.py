"""`plastic-memories rekey`"""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click

from plastic_memories import settings as configuration
from plastic_memories.adapters.websocket.sink import NoEvents
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.installation import open_installed_storage
from plastic_memories.cli.output import Screen, counts_text
from plastic_memories.hub.conversation.rekey import RekeyBots
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.owner import User
from plastic_memories.model.session import RekeyCounts
from plastic_memories.rules.conversation.session_address import (
    candidate_addresses,
    parse_session_address,
)
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import SystemClock


@click.command()
@click.option("--user", required=True, help="User of the rows, for example aiocqhttp:20001.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True)
@click.option("--from", "old", required=True, metavar="ID", help="Current ID of the rows.")
@click.option("--to", "new", required=True, metavar="ID", help="New ID of the rows.")
@click.option("--dry-run", is_flag=True, help="Only show what would be moved.")
@local_command
def rekey(options: CliOptions, user: str, tenant: str, old: str, new: str, dry_run: bool) -> None:
    """Move a user's memories and messages to another bot or session.

    An ID is bot_{id}:{platform}:{type}:{session}, or {platform}:{type}:{session} for rows without a
    bot, or bot_{id} for all sessions of a bot. If another memory is active at the new place, that
    one stays and the moved one goes to the inbox.
    """
    moved = asyncio.run(_rekey_rows(User(tenant, user), old, new, dry_run))
    screen = Screen.for_options(options)
    if screen.print_if_json({"dry_run": dry_run, **asdict(moved)}):
        return
    screen.line("would move:" if dry_run else "✓ moved:", style="green")
    screen.line(f"  {counts_text(asdict(moved))}")


async def _rekey_rows(user: User, old: str, new: str, dry_run: bool) -> RekeyCounts:
    key = ApiKey(
        id=0, digest="", tenant_id=user.tenant_id, user_id=user.user_id, label="(command line)"
    )
    async with open_installed_storage(configuration.load_settings()) as storage:
        move = RekeyBots(AuditedStorage(storage, NoEvents(), SystemClock()))
        caller = Caller(user=user, key=key)
        return await move(
            caller, candidate_addresses(old), parse_session_address(new), dry_run=dry_run
        )


COMMANDS = {"rekey": rekey}
