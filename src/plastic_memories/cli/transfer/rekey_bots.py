"""`plastic-memories rekey`"""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click

from plastic_memories import settings as configuration
from plastic_memories.adapters.websocket.sink import NoEvents
from plastic_memories.cli.command_options import Place, local_command
from plastic_memories.cli.installation import opened
from plastic_memories.cli.output import Screen, counted
from plastic_memories.hub.conversation.rekey import RekeyBots
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.owner import User
from plastic_memories.model.rekey import Rekeyed
from plastic_memories.rules.conversation.session_address import address_of, old_addresses
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import SystemClock


@click.command()
@click.option("--user", required=True, help="Whose rows, for example aiocqhttp:20001.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True)
@click.option("--from", "old", required=True, metavar="ID", help="The id they have.")
@click.option("--to", "new", required=True, metavar="ID", help="The id they shall have.")
@click.option("--dry-run", is_flag=True, help="Only say what would be moved.")
@local_command
def rekey(place: Place, user: str, tenant: str, old: str, new: str, dry_run: bool) -> None:
    """Give a user's memories and messages another bot or session.

    An ID is bot_{id}:{platform}:{type}:{session}, or {platform}:{type}:{session} for rows of no
    bot, or bot_{id} for all sessions of a bot. Where another memory holds at the new place, that
    one stays and the moved one goes to the inbox.
    """
    moved = asyncio.run(_moved(User(tenant, user), old, new, dry_run))
    screen = Screen.of(place)
    if screen.told({"dry_run": dry_run, **asdict(moved)}):
        return
    screen.line("would move:" if dry_run else "✓ moved:", style="green")
    screen.line(f"  {counted(asdict(moved))}")


async def _moved(user: User, old: str, new: str, dry_run: bool) -> Rekeyed:
    key = ApiKey(
        id=0, digest="", tenant_id=user.tenant_id, user_id=user.user_id, label="(command line)"
    )
    async with opened(configuration.load()) as storage:
        move = RekeyBots(Ledger(storage, NoEvents(), SystemClock()))
        caller = Caller(user=user, key=key)
        return await move(caller, old_addresses(old), address_of(new), dry_run=dry_run)


COMMANDS = {"rekey": rekey}
