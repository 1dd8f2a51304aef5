"""`plastic-memories worker`"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import Place, local_command
from plastic_memories.cli.installation import check_folders, naming_the_file, opened
from plastic_memories.cli.output import Screen
from plastic_memories.settings import Settings
from plastic_memories.wiring import open_hub
from plastic_memories.worker.loop import Worker

# A job that nobody has taken for this long says that nobody works.
_LATE_S = 300


@click.command()
@click.option("--once", is_flag=True, help="Do what is due now, and end.")
@click.option("--check", is_flag=True, help="Say whether jobs are being done, and end.")
@local_command
def worker(place: Place, once: bool, check: bool) -> None:
    """Do jobs in a process of its own.

    Several may run at the same time. Start the server with PLASTIC_MEMORIES_WORKER=off.
    """
    settings = configuration.load()
    screen = Screen.of(place)
    if check:
        asyncio.run(_check(settings))
        if not screen.told({"status": "ok"}):
            screen.line("✓ no job waits for a worker", style="green")
        return
    check_folders(settings)
    done = asyncio.run(_work(settings, screen, once=once))
    if once and not screen.told({"done": done}):
        screen.line(f"✓ {done} done", style="green")


async def _check(settings: Settings) -> None:
    late = time.time() - _LATE_S
    async with opened(settings) as storage:
        waiting = await storage.read(lambda stores: stores.jobs.due(late))
    if waiting:
        raise click.ClickException(
            f"Jobs have waited for more than {_LATE_S} seconds; is a worker running?"
        )


async def _work(settings: Settings, screen: Screen, *, once: bool) -> int:
    with naming_the_file(settings):
        # Its own loop is the one that works here; the server embeds, and keeps the pages.
        alone = {"worker": "off", "embedder": "none", "markdown": "off"}
        async with open_hub(settings.model_copy(update=alone)) as hub:
            doing = Worker(hub.work, hub.consolidate, settings.worker_poll_s)
            if once:
                return await doing.once()
            if not screen.as_json:
                screen.line("Working. Stop with Ctrl-C.", style="dim")
            task = asyncio.create_task(doing.forever(), name="worker")
            _stop_on_signals(task)
            with contextlib.suppress(asyncio.CancelledError):
                await task
            return 0


def _stop_on_signals(task: asyncio.Task[None]) -> None:
    """Let the job in hand be given back when we are asked to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, task.cancel)


COMMANDS = {"worker": worker}
