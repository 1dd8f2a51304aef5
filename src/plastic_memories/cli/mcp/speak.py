"""`plastic-memories mcp`"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from importlib.util import find_spec

import click
import httpx

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_address import is_local
from plastic_memories.cli.hub_connection import HubConnection, open_connection
from plastic_memories.cli.mcp.stdio_pipe import StdioPipe

# Longer than any tool takes; recall and writes have their own deadlines in the hub.
_RESPONSE_TIMEOUT_S = 120.0


@click.command("mcp")
@user_command
def speak(options: CliOptions) -> None:
    """Serve MCP over standard input and output, for editors and agents.

    Every message goes to /mcp of the hub that runs here or of --url; if none runs, this process
    opens the database itself. Setup: docs/doors/mcp.md
    """
    asyncio.run(_run_pipe(options))


async def _run_pipe(options: CliOptions) -> None:
    async with open_connection(options, lasting=True) as connection:
        if connection.transport is not None and find_spec("mcp") is None:
            raise click.ClickException(
                "The MCP door is not installed here: pip install '.[mcp]' in its source folder."
            )
        async with _hub_client(connection) as hub:
            await StdioPipe(hub, _write_line).run(_stdin_lines())


def _hub_client(connection: HubConnection) -> httpx.AsyncClient:
    named = {
        "X-API-Key": connection.key,
        "X-User-Id": connection.options.user,
        "X-Persona-Id": connection.options.persona,
        "X-Source-App": "mcp",
    }
    return httpx.AsyncClient(
        base_url=connection.url,
        # Bytes: a name need not be ASCII.
        headers={name.encode(): value.encode() for name, value in named.items() if value},
        timeout=_RESPONSE_TIMEOUT_S,
        transport=connection.transport,
        trust_env=not is_local(connection.url),
    )


async def _stdin_lines() -> AsyncIterator[bytes]:
    """Yield lines from standard input. A daemon thread reads, so that it cannot block the exit."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(waiting.put_nowait, line)
        loop.call_soon_threadsafe(waiting.put_nowait, b"")

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while line := await waiting.get():
        yield line


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


COMMANDS = {"mcp": speak}
