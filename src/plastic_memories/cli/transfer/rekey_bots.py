"""`plastic-memories rekey`"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass

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
from plastic_memories.model.session import BotSessionAddress, RekeyCounts
from plastic_memories.rules.conversation.session_address import (
    candidate_addresses,
    parse_session_address,
)
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import SystemClock


@click.command()
@click.option("--user", help="User of the rows, for example aiocqhttp:20001.")
@click.option("--all-users", is_flag=True, help="Move the rows of every user of the tenant.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True)
@click.option("--from", "old", required=True, metavar="ID", help="Current ID of the rows.")
@click.option("--to", "new", required=True, metavar="ID", help="New ID of the rows.")
@click.option(
    "--platform",
    default="",
    metavar="KIND",
    help="Kind of platform of the sessions. By default the part of the user before the colon.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be moved.")
@local_command
def rekey(
    options: CliOptions, user: str | None, all_users: bool, tenant: str, dry_run: bool,
    **addresses: str,
) -> None:  # fmt: skip
    """Move memories and messages to another bot or session.

    An ID is bot_{id}:{platform}:{type}:{session}, or {platform}:{type}:{session} for rows without a
    bot; bot_{id} stands for all sessions of a bot, no-bot for all rows without one. From a bot to
    itself, sessions of earlier versions get their full ID. If another memory is active at the new
    place, that one stays and the moved one goes to the inbox.
    """
    if bool(user) == all_users:
        raise click.UsageError("Give --user or --all-users.")
    moved = asyncio.run(_rekey_rows(tenant, user, _Addresses(**addresses), dry_run))
    screen = Screen.for_options(options)
    if screen.print_if_json({"dry_run": dry_run, **asdict(moved)}):
        return
    screen.line("would move:" if dry_run else "✓ moved:", style="green")
    screen.line(f"  {counts_text(asdict(moved))}")


@dataclass(frozen=True, slots=True)
class _Addresses:
    old: str
    new: str
    platform: str

    def of(self, user_id: str) -> tuple[list[BotSessionAddress], BotSessionAddress]:
        """Return where the rows of a user may be, and where they go."""
        kind, colon, _ = user_id.partition(":")
        platform = self.platform or (kind if colon else "")
        return candidate_addresses(self.old, platform), parse_session_address(self.new, platform)


async def _rekey_rows(
    tenant: str, user: str | None, addresses: _Addresses, dry_run: bool
) -> RekeyCounts:
    """Move the rows of one user or of all; each user's in a transaction of its own."""
    total = RekeyCounts()
    async with open_installed_storage(configuration.load_settings()) as storage:
        move = RekeyBots(AuditedStorage(storage, NoEvents(), SystemClock()))
        for user_id in [user] if user else await move.user_ids(tenant):
            old, new = addresses.of(user_id)
            total += await move(_caller(User(tenant, user_id)), old, new, dry_run=dry_run)
    return total


def _caller(user: User) -> Caller:
    key = ApiKey(
        id=0, digest="", tenant_id=user.tenant_id, user_id=user.user_id, label="(command line)"
    )
    return Caller(user=user, key=key)


COMMANDS = {"rekey": rekey}
