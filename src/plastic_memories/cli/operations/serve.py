"""`plastic-memories serve`"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import shutil
import socket
import sys

import click
import uvicorn
from starlette.types import ASGIApp

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.hub_address import hub_address
from plastic_memories.cli.installation import check_folders, open_installed_storage
from plastic_memories.cli.operations.limited_protocol import limited_protocol
from plastic_memories.cli.output import Screen
from plastic_memories.settings import Settings
from plastic_memories.wiring import build_app

_SOCKET_BACKLOG = 2048
_SHUTDOWN_TIMEOUT_S = 5.0
_DEFAULT_URL = "http://127.0.0.1:8007"  # where the commands look by themselves
_EXAMPLE = {"persona_id": "default", "messages": [{"role": "user", "content": "叫我小林"}]}


@click.command()
@click.option("--host", help="Address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port.  [default: 8007]")
@click.option("--check", is_flag=True, help="Say whether the hub there is well, and end.")
@local_command
def serve(place: CliOptions, host: str | None, port: int | None, check: bool) -> None:
    """Start the hub on this machine."""
    settings = _with_overrides(configuration.load_settings(), host, port)
    if check:
        _check(Screen.for_options(place), hub_address(settings))
        return
    app = build_app(settings, alone=True)
    check_folders(settings)
    asyncio.run(_check_storage_opens(settings))
    listening = _listen(settings)
    settings = _with_overrides(settings, None, listening.getsockname()[1])
    with contextlib.suppress(KeyboardInterrupt):
        _Server(server_config(app, settings), Screen.for_options(place), settings).run(
            sockets=[listening]
        )


def server_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,  # every request is in our own log, with its id
        timeout_graceful_shutdown=10,
        http=limited_protocol(settings.max_connections, settings.head_timeout_s),
    )


def _check(screen: Screen, url: str) -> None:
    import httpx  # a server itself does not need it to start

    try:
        health = httpx.get(f"{url}/health", timeout=_SHUTDOWN_TIMEOUT_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError) as error:
        raise click.ClickException(f"No hub answers at {url}: {type(error).__name__}.") from error
    status = health["data"]["status"]
    if status != "ok":
        raise click.ClickException(f"The hub at {url} is {status}.")
    if not screen.print_if_json({"url": url, "status": status}):
        screen.line(f"✓ the hub at {url} is well", style="green")


class _Server(uvicorn.Server):
    """A server that says what to do with it once it can be used."""

    def __init__(self, config: uvicorn.Config, screen: Screen, settings: Settings) -> None:
        super().__init__(config)
        self._screen = screen
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # A first key is announced on standard output, which is not ours to fill with --json.
        out = sys.stderr if self._screen.as_json else sys.stdout
        with contextlib.redirect_stdout(out):
            await super().startup(sockets=sockets)
        if self.started:
            _print_welcome(self._screen, self._settings)


def _with_overrides(settings: Settings, host: str | None, port: int | None) -> Settings:
    given = {"host": host, "port": port}
    return settings.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


async def _check_storage_opens(settings: Settings) -> None:
    """Open the storage once before the server does, whose complaint would be a traceback."""
    async with open_installed_storage(settings):
        pass


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    if sys.platform != "win32":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(_SOCKET_BACKLOG)
    except OSError as error:
        listening.close()
        raise click.ClickException(
            f"Cannot listen at {settings.host}:{settings.port}: {error.strerror or error}. "
            "Is a hub running already? Choose another with --port. (port_in_use)"
        ) from error
    return listening


def _print_welcome(screen: Screen, settings: Settings) -> None:
    url = hub_address(settings)
    answer = {
        "url": url,
        "docs": f"{url}/docs",
        "database": str(settings.db_path),
        "log": str(settings.log_path),
        "key_file": str(settings.key_file) if settings.key_file.is_file() else None,
    }
    if screen.print_if_json(answer):
        sys.stdout.flush()
        return
    screen.line("Plastic Memories is running.", style="bold green")
    screen.line()
    screen.line(f"  open      {url}")
    screen.line(f"  routes    {url}/docs")
    screen.line(f"  database  {settings.db_path}")
    screen.line(f"  log       {settings.log_path}")
    screen.line()
    screen.line("Try it in another window:")
    screen.line()
    screen.line(f"  {_curl(url, settings)}", style="cyan")
    screen.line(f"  {_command(url)} recall '我叫什么'", style="cyan")
    screen.line()
    screen.line("Stop with Ctrl-C.", style="dim")
    sys.stdout.flush()


def _command(url: str) -> str:
    """Return how this program is called from here: it may not be on the path, nor at home."""
    on_path = shutil.which("plastic-memories")
    called = "plastic-memories" if on_path else shlex.quote(sys.argv[0])
    return called if url == _DEFAULT_URL else f"{called} --url {url}"


def _curl(url: str, settings: Settings) -> str:
    """Return a command that writes a first memory, ready to be pasted."""
    key = "<one of your keys>"
    if settings.key_file.is_file():
        key = f"$(cat '{settings.key_file}')"
    body = json.dumps(_EXAMPLE, ensure_ascii=False)
    return (
        f'curl -s {url}/memory/write -H "X-API-Key: {key}" '
        f"-H 'content-type: application/json' -d '{body}'"
    )


COMMANDS = {"serve": serve}
