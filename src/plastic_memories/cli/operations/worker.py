"""`plastic-memories worker`"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.installation import (
    check_folders,
    errors_naming_file,
    open_installed_storage,
)
from plastic_memories.cli.output import Screen
from plastic_memories.settings import Settings
from plastic_memories.wiring import open_hub
from plastic_memories.worker.loop import Worker

# A job that stays due for this long means that no worker is running.
_OVERDUE_S = 300


@click.command()
@click.option("--once", is_flag=True, help="Run the due jobs and exit.")
@click.option("--check", is_flag=True, help="Check for overdue jobs and exit.")
@local_command
def worker(options: CliOptions, once: bool, check: bool) -> None:
    """Run jobs in a separate process.

    Several may run at the same time. Start the server with PLASTIC_MEMORIES_WORKER=off.
    """
    settings = configuration.load_settings()
    screen = Screen.for_options(options)
    if check:
        asyncio.run(_check(settings))
        if not screen.print_if_json({"status": "ok"}):
            screen.line("✓ no overdue jobs", style="green")
        return
    check_folders(settings)
    done = asyncio.run(_run_worker(settings, screen, once=once))
    if once and not screen.print_if_json({"done": done}):
        screen.line(f"✓ {done} done", style="green")


async def _check(settings: Settings) -> None:
    late = time.time() - _OVERDUE_S
    async with open_installed_storage(settings) as storage:
        waiting = await storage.read(lambda stores: stores.jobs.due(late))
    if waiting:
        raise click.ClickException(
            f"Jobs have waited for more than {_OVERDUE_S} seconds; is a worker running?"
        )


async def _run_worker(settings: Settings, screen: Screen, *, once: bool) -> int:
    with errors_naming_file(settings):
        # This process runs its own job loop; the server embeds and syncs the pages.
        alone = {"worker": "off", "embedder": "none", "markdown": "off"}
        async with open_hub(settings.model_copy(update=alone)) as hub:
            doing = Worker(hub.job_runner, hub.consolidate, settings.worker_poll_s)
            if once:
                return await doing.run_once()
            if not screen.as_json:
                screen.line("Running jobs. Stop with Ctrl-C.", style="dim")
            task = asyncio.create_task(doing.run_forever(), name="worker")
            _stop_on_signals(task)
            with contextlib.suppress(asyncio.CancelledError):
                await task
            return 0


def _stop_on_signals(task: asyncio.Task[None]) -> None:
    """Cancel the task on a signal, so that it returns its job to the queue."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, task.cancel)


COMMANDS = {"worker": worker}
