"""Connect to the hub: over the network if one answers, else inside this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TypeVar

import click
import httpx

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions
from plastic_memories.cli.hub_address import hub_address, is_local
from plastic_memories.model.key import ANY_USER
from plastic_memories.settings import Settings
from plastic_memories_client import AsyncPlasticMemoriesClient, ServerUnreachable

T = TypeVar("T")
_SOURCE_APP = "cli"
# Loading the default model takes about a second.
_MODEL_TIMEOUT_S = 10.0
# After that, memories without a vector are found by text only: a query must not wait for thousands.
_VECTORS_TIMEOUT_S = 2.0
_BACKFILL_NOTICE = "Searched by text only, because their vectors are pending: {} memories."
# A hub on this machine answers within milliseconds, or there is none.
_PROBE_TIMEOUT = httpx.Timeout(3.0, connect=0.4)


@dataclass(frozen=True, slots=True)
class HubConnection:
    """An open connection to one hub; its clients share the transport."""

    url: str
    options: CliOptions
    key: str
    transport: httpx.AsyncBaseTransport | None = None

    def client(self, timeout_s: float = 30.0) -> AsyncPlasticMemoriesClient:
        """Return a client. A person sees all their memories, whichever bot they came through."""
        return AsyncPlasticMemoriesClient(
            self.url,
            user_id=self.options.user,
            persona_id=self.options.persona,
            source_app=_SOURCE_APP,
            api_key=self.key or None,
            bots="all",
            timeout_s=timeout_s,
            transport=self.transport,
        )


def run_with_hub(
    options: CliOptions, work: Callable[[HubConnection], Awaitable[T]], *, by_meaning: bool = False
) -> T:
    """Run a coroutine with a connection to the chosen hub."""

    async def connect_and_work() -> T:
        async with open_connection(options, by_meaning=by_meaning) as connection:
            return await work(connection)

    return asyncio.run(connect_and_work())


def run_with_client(
    options: CliOptions,
    work: Callable[[AsyncPlasticMemoriesClient], Awaitable[T]],
    *,
    by_meaning: bool = False,
) -> T:
    """Run a coroutine with a client of the chosen hub."""

    async def with_client(connection: HubConnection) -> T:
        async with connection.client() as client:
            return await work(client)

    return run_with_hub(options, with_client, by_meaning=by_meaning)


@asynccontextmanager
async def open_connection(
    options: CliOptions, *, lasting: bool = False, by_meaning: bool = False
) -> AsyncIterator[HubConnection]:
    """Connect to the given URL or to the hub that runs here, or open the database here.

    Only long-running commands (`lasting`) and searches (`by_meaning`) wait for a model to load.
    """
    settings = configuration.load_settings()
    url = options.url or hub_address(settings)
    if await is_hub_at(url):
        yield HubConnection(url, options, options.key or local_key(url, settings, options.user))
    elif options.url:
        raise ServerUnreachable(f"No hub answers at {url}.")
    else:
        opened = in_process_transport(settings, lasting=lasting, by_meaning=by_meaning)
        async with opened as transport:
            key = options.key or _find_key(settings, options.user)
            if not key:
                raise click.ClickException(
                    "No API key found. Create one with: plastic-memories keys create --user "
                    f"{options.user}, then give it with --key or PLASTIC_MEMORIES_API_KEY."
                )
            yield HubConnection(url, options, key, transport)


@asynccontextmanager
async def in_process_transport(
    settings: Settings, *, lasting: bool = False, by_meaning: bool = False
) -> AsyncIterator[httpx.AsyncBaseTransport]:
    """Run the hub inside this process, behind the same HTTP layer as in a server."""
    # Imported here: a command that uses the network need not wait for the server's imports.
    from plastic_memories.cli.installation import check_folders, errors_naming_file
    from plastic_memories.wiring import build_app

    check_folders(settings)
    # Most commands end before a model is loaded; the next search fills in the vectors.
    if not lasting and not by_meaning:
        settings = settings.model_copy(update={"embedder": "none"})
    app = build_app(settings, brief=not lasting)
    async with AsyncExitStack() as stack:
        # Startup announces a first key; standard output belongs to the command's own output.
        with redirect_stdout(sys.stderr), errors_naming_file(settings):
            await stack.enter_async_context(app.router.lifespan_context(app))
        if by_meaning:
            waiting = await app.state.hub.embedding.wait_until_filled(
                _MODEL_TIMEOUT_S, _VECTORS_TIMEOUT_S
            )
            if waiting:
                click.echo(_BACKFILL_NOTICE.format(waiting), err=True)
        yield httpx.ASGITransport(app=app)


async def is_hub_at(url: str) -> bool:
    """Return whether a hub answers at this URL."""
    return (await fetch_health(url)) is not None


async def fetch_health(url: str, key: str = "") -> dict[str, object] | None:
    """Return the health report of the hub at this URL; None if none answers."""
    headers = {"X-API-Key": key} if key else {}
    try:
        async with httpx.AsyncClient(timeout=_PROBE_TIMEOUT, trust_env=not is_local(url)) as http:
            answer = await http.get(f"{url.rstrip('/')}/health", headers=headers)
            envelope = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None
    known = envelope.get("data") if isinstance(envelope, dict) else None
    return known if isinstance(known, dict) else None


def local_key(url: str, settings: Settings, user: str) -> str:
    # A key of this machine must not be sent to another host.
    return _find_key(settings, user) if is_local(url) else ""


def _find_key(settings: Settings, user: str) -> str:
    """Return a key of this installation: the user's own, the one in its key file, or any other."""
    entries = [entry.strip().partition(":") for entry in settings.api_keys.split(",")]
    keys = {who.rpartition("/")[2].strip(): key.strip() for key, _, who in entries if who}
    if user in keys:
        return keys[user]
    if settings.key_file.is_file():
        return settings.key_file.read_text(encoding="utf-8").strip()
    return keys.get(ANY_USER) or next(iter(keys.values()), "")
