"""`plastic-memories console`"""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from urllib.parse import urlsplit

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.hub_address import hub_address, is_local
from plastic_memories.cli.installation import open_installed_storage
from plastic_memories.cli.output import Screen
from plastic_memories.formats.qr_code import qr_terminal_text
from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.hub.console.sign_in import LINK_LIFETIME_S, SignIn
from plastic_memories.settings import Settings
from plastic_memories.wiring import SystemClock, operator_link

# No packet is sent: to choose a route to it shows the address of this machine in its network.
_ELSEWHERE = ("192.0.2.1", 9)
_LAN_SETTING = "PLASTIC_MEMORIES_HOST=0.0.0.0"


@click.command()
@click.option("--no-open", is_flag=True, help="Only print the link.")
@click.option("--lan", is_flag=True, help="Print a link for a phone in this network, as a QR code.")
@local_command
def console(options: CliOptions, no_open: bool, lan: bool) -> None:
    """Open the web console, signed in by a link that works once."""
    settings = configuration.load_settings()
    screen = Screen.for_options(options)
    own = options.url.rstrip("/") or hub_address(settings)
    address = _lan_address(settings, own) if lan else own
    link = asyncio.run(_create_link(settings))
    if link is None:
        raise click.ClickException("There is no key yet: start the hub first. (no_key)")
    url = console_url(address, link)
    if screen.print_if_json({"url": url, "expires_in_s": int(LINK_LIFETIME_S)}):
        return
    if lan:
        click.echo(qr_terminal_text(url))
    screen.line(f"  {url}", style="cyan")
    screen.line(f"  works once, within {int(LINK_LIFETIME_S // 60)} minutes", style="dim")
    if not no_open and not lan:
        webbrowser.open(url)


def console_url(address: str, link: str) -> str:
    """Return the address of a link. A browser sends nothing after `#`, so no log has it."""
    return f"{address}/console#link={link}"


async def _create_link(settings: Settings) -> str | None:
    async with open_installed_storage(settings) as storage:
        clock = SystemClock()
        keys = ApiKeys(storage, clock, settings.keys)
        return await operator_link(SignIn(storage, keys, clock), settings)


def _lan_address(settings: Settings, own: str) -> str:
    """Return an address of the hub as seen from the network of this machine."""
    if is_local(f"http://{settings.host}"):
        raise click.ClickException(
            f"The hub listens on this machine only: start it with {_LAN_SETTING}. (not_in_network)"
        )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ELSEWHERE)
        host: str = probe.getsockname()[0]
    return f"http://{host}:{urlsplit(own).port or settings.port}"


COMMANDS = {"console": console}
