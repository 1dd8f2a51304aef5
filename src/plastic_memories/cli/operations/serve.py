"""`plastic-memories serve`"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator

import click
import uvicorn
from starlette.types import ASGIApp

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.hub_address import hub_address, is_local
from plastic_memories.cli.installation import (
    EMBEDDED_BACKEND,
    check_folders,
    open_installed_storage,
)
from plastic_memories.cli.language import tr
from plastic_memories.cli.operations.console_link import console_url
from plastic_memories.cli.operations.limited_protocol import limited_protocol
from plastic_memories.cli.operations.serving_lock import serving_lock
from plastic_memories.cli.output import Screen
from plastic_memories.http.app import Application
from plastic_memories.hub.hub import Hub
from plastic_memories.settings import Settings
from plastic_memories.wiring import build_app, operator_link

_SOCKET_BACKLOG = 2048
_SHUTDOWN_TIMEOUT_S = 5.0
_DEFAULT_URL = "http://127.0.0.1:8007"  # where the commands look by default
_EXAMPLE = {"persona_id": "default", "messages": [{"role": "user", "content": "叫我小林"}]}


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port.  [default: 8007]")
@click.option("--check", is_flag=True, help="Check the health of the running hub and exit.")
@local_command
def serve(options: CliOptions, host: str | None, port: int | None, check: bool) -> None:
    """Start the hub on this machine."""
    settings = _with_overrides(configuration.load_settings(), host, port)
    if check:
        _check(Screen.for_options(options), hub_address(settings))
        return
    app = build_app(settings, alone=True)
    check_folders(settings)
    asyncio.run(_check_storage_opens(settings))
    listening = _listen(settings)
    settings = _with_overrides(settings, None, listening.getsockname()[1])
    config = server_config(app, settings)
    with contextlib.suppress(KeyboardInterrupt), _announced_to_others(settings):
        _Server(config, app, Screen.for_options(options), settings).run(sockets=[listening])


def server_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,  # our own log has every request, with its id
        timeout_graceful_shutdown=10,
        http=limited_protocol(settings.max_connections, settings.head_timeout_s),
    )


def _check(screen: Screen, url: str) -> None:
    import httpx  # a server does not need it to start

    try:
        health = httpx.get(f"{url}/health", timeout=_SHUTDOWN_TIMEOUT_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError) as error:
        raise click.ClickException(f"No hub answers at {url}: {type(error).__name__}.") from error
    status = health["data"]["status"]
    if status != "ok":
        raise click.ClickException(f"The hub at {url} is {status}.")
    if not screen.print_if_json({"url": url, "status": status}):
        screen.line(f"✓ the hub at {url} is healthy", style="green")


class _Server(uvicorn.Server):
    """A server that prints how to use it once it is ready."""

    def __init__(
        self, config: uvicorn.Config, app: Application, screen: Screen, settings: Settings
    ) -> None:
        super().__init__(config)
        self._screen = screen
        self._settings = settings
        self._app = app

    @property
    def _hub(self) -> Hub:
        hub: Hub = self._app.state.hub
        return hub

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Startup announces a first key on standard output, which belongs to the JSON with --json.
        out = sys.stderr if self._screen.as_json else sys.stdout
        with contextlib.redirect_stdout(out):
            await super().startup(sockets=sockets)
        if self.started:
            _print_welcome(self._screen, self._settings, await self._console_url())

    async def _console_url(self) -> str | None:
        """Return a link to the console that works once, for whoever sees this screen."""
        link = await operator_link(self._hub.console.sign_in, self._settings)
        return console_url(hub_address(self._settings), link) if link else None


def _with_overrides(settings: Settings, host: str | None, port: int | None) -> Settings:
    given = {"host": host, "port": port}
    return settings.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


async def _check_storage_opens(settings: Settings) -> None:
    """Open the storage once before the server does: the server would show a traceback."""
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
            f"{_port_owner(error, settings)}Choose another with --port or PLASTIC_MEMORIES_PORT. "
            "(port_in_use)"
        ) from error
    return listening


def _port_owner(error: OSError, settings: Settings) -> str:
    if error.errno != errno.EADDRINUSE:
        return ""
    # Only here: a server that can start need not wait for the client's imports.
    from plastic_memories.cli.operations.port_owner import describe_port_owner

    return describe_port_owner(settings) + " "


@contextlib.contextmanager
def _announced_to_others(settings: Settings) -> Iterator[None]:
    """Say so if another server has this database open; both go on."""
    if settings.backend != EMBEDDED_BACKEND:
        yield
        return
    with serving_lock(settings.db_path, hub_address(settings)) as other:
        if other is not None:
            click.echo(
                tr(
                    "Another hub serves {path} already, at {address}; this one goes on.",
                    path=settings.db_path,
                    address=other,
                ),
                err=True,
            )
        yield


def _print_welcome(screen: Screen, settings: Settings, console: str | None) -> None:
    url = hub_address(settings)
    answer = {
        "url": url,
        "console": console,
        "docs": f"{url}/docs",
        "database": str(settings.db_path),
        "log": str(settings.log_path),
        "key_file": str(settings.key_file) if settings.key_file.is_file() else None,
    }
    if screen.print_if_json(answer):
        sys.stdout.flush()
        return
    screen.line(tr("Plastic Memories is running."), style="bold green")
    screen.line()
    if console:
        screen.line(f"  {tr('console ')}  {console}", style="bold")
        lan = " --lan" if not is_local(f"http://{settings.host}") else ""
        again = tr("signs you in once; another: {command}", command=f"{_command(url)} console{lan}")
        screen.line(f"            {again}", style="dim")
    screen.line(f"  {tr('open    ')}  {url}")
    screen.line(f"  {tr('routes  ')}  {url}/docs")
    screen.line(f"  {tr('database')}  {settings.db_path}")
    screen.line(f"  {tr('log     ')}  {settings.log_path}")
    screen.line()
    screen.line(tr("Try it in another window:"))
    screen.line()
    screen.line(f"  {_curl(url, settings)}", style="cyan")
    screen.line(f"  {_command(url)} recall '我叫什么'", style="cyan")
    screen.line()
    screen.line(tr("Stop with Ctrl-C."), style="dim")
    sys.stdout.flush()


def _command(url: str) -> str:
    """Return how to call this program: it may not be on the path, nor use the default address."""
    on_path = shutil.which("plastic-memories")
    called = "plastic-memories" if on_path else shlex.quote(sys.argv[0])
    return called if url == _DEFAULT_URL else f"{called} --url {url}"


def _curl(url: str, settings: Settings) -> str:
    """Return a curl command that stores a first memory, ready to paste."""
    key = "<one of your keys>"
    if settings.key_file.is_file():
        key = f"$(cat '{settings.key_file}')"
    body = json.dumps(_EXAMPLE, ensure_ascii=False)
    return (
        f'curl -s {url}/memory/write -H "X-API-Key: {key}" '
        f"-H 'content-type: application/json' -d '{body}'"
    )


COMMANDS = {"serve": serve}
