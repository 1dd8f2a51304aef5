"""`plastic-memories erase-user`"""

from __future__ import annotations

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen, counts_text


@click.command(name="erase-user")
@click.argument("user_id")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@user_command
def erase_user(options: CliOptions, user_id: str, yes: bool) -> None:
    """Erase everything of the user, in every persona.

    USER_ID repeats the user's id, as a confirmation.
    """
    if not yes:
        if options.as_json:
            raise click.UsageError("--json cannot ask for confirmation: give --yes.")
        question = f"Erase everything of {user_id}, in every persona, for good?"
        click.confirm(f"{question} 彻底清除 {user_id} 的一切？", abort=True)
    gone = run_with_client(options, lambda client: client.erase_user(user_id))
    screen = Screen.for_options(options)
    if screen.print_if_json(gone.raw):
        return
    receipt = gone.raw.get("receipt") or {}
    screen.line(f"✓ {user_id} is erased", style="green")
    screen.line(f"  erased     {counts_text(receipt.get('erased') or {})}")
    screen.line(f"  remaining  {counts_text(receipt.get('remaining') or {})}")
    for place in receipt.get("pending", ()):
        screen.line(f"  pending    {place}", style="yellow")
    for note in receipt.get("elsewhere", ()):
        screen.line(f"  elsewhere  {note}", style="dim")


COMMANDS = {"erase-user": erase_user}
