"""Workers that die at every step, as if their power were cut; run by test_worker.py.

`python dying_worker.py FOLDER` makes a folder for each step: a conversation that has ended waits
there, a worker dies on it right before or right after the step, and a second one goes on. A step
is a look into the database, a transaction, or a file of the archive. Prints one line for each
folder: its name, and whether the first worker died there. Each is a fork of this process, which
has imported everything and holds nothing open.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plastic_memories import plugins, settings, wiring
from plastic_memories.hub.conversation.sessions import SessionSelector
from plastic_memories.hub.hub import Hub
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.language.text.lazy_regex import compile_all
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.worker.loop import Worker

OWNER = Owner("default", "userA", "p1")
TALK = ("叫我 tcmiku", "我海鲜过敏", "我生日是5月20日", "明天我要去面试")
LEASE_S = 0.1
MOST_STEPS = 60
# Within the time that messages are kept; the same for every run.
SAID_AT = time.time() - 60
NEVER = 0


class Fuse:
    """Burns down step by step."""

    def __init__(self, step: int, when: str) -> None:
        self._step = step
        self._when = when
        self._steps = itertools.count(1)
        self.lit = False

    async def around(self, work: Callable[[], Any]) -> Any:
        if not self.lit:
            return await work()
        is_last = next(self._steps) == self._step
        if is_last and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await work()
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


class Fused:
    """Anything with asynchronous methods, some of whose calls are steps."""

    def __init__(self, inner: Any, fuse: Fuse, steps: tuple[str, ...]) -> None:
        self._inner = inner
        self._fuse = fuse
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._steps:
            return found
        return lambda *given: self._fuse.around(lambda: found(*given))


def light(fuse: Fuse) -> None:
    """Put the fuse around everything a worker leaves its traces in."""
    factory = plugins.plugin_factory

    def fused(port: str, name: str) -> plugins.Factory:
        build = factory(port, name)
        if port == "archive":
            return lambda context: Fused(build(context), fuse, ("put", "get", "remove"))
        if port != "storage":
            return build

        @asynccontextmanager
        async def opened(context: Any) -> AsyncIterator[Any]:
            async with build(context) as storage:
                yield Fused(storage, fuse, ("read", "write"))

        return opened

    plugins.plugin_factory = fused


@asynccontextmanager
async def hub_in(folder: Path) -> AsyncIterator[Hub]:
    env = {
        "DATA_DIR": str(folder),
        "DB_PATH": str(folder / "hub.db"),
        "API_KEYS": "k:userA",
        "WORKER": "off",
        "EMBEDDER": "none",
        "JOB_LEASE_S": str(LEASE_S),
    }
    chosen = settings.load_settings(
        {f"PLASTIC_MEMORIES_{name}": value for name, value in env.items()}
    )
    async with wiring.open_hub(chosen) as hub:
        yield hub


async def talk(folder: Path) -> None:
    async with hub_in(folder) as hub:
        said = [
            Message(owner=OWNER, role=Role.USER, content=text, ts=SAID_AT + n, session_id="s1")
            for n, text in enumerate(TALK)
        ]
        await hub.messages.append(hub_caller(OWNER.user), OWNER, said)
        await hub.sessions.end(
            hub_caller(OWNER.user), SessionSelector(owner=OWNER, session_id="s1")
        )


async def work(folder: Path, step: int, when: str) -> None:
    fuse = Fuse(step, when)
    light(fuse)
    async with hub_in(folder) as hub:
        fuse.lit = True
        await Worker(hub.job_runner, hub.consolidate).run_once()
        fuse.lit = False


async def go_on(folder: Path) -> None:
    """Work as a second worker would, once the lease of the first has run out."""
    async with hub_in(folder) as hub:
        await asyncio.sleep(LEASE_S)
        await Worker(hub.job_runner, hub.consolidate).run_once()


def forked(task: Callable[..., Coroutine[Any, Any, None]], *given: Any) -> int:
    """Run something in a process of its own; return the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(task(*given))
        finally:
            os._exit(sys.exc_info()[0] is not None)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def main(root: Path) -> None:
    # Imported and compiled once, for all of them; forks of a process with threads would be unsafe.
    compile_all()
    asyncio.run(talk(root / "talk"))
    shutil.copytree(root / "talk", root / "rehearsal")
    asyncio.run(go_on(root / "rehearsal"))
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(10)
    assert threading.active_count() == 1
    for when in ("before", "after"):
        for step in range(1, MOST_STEPS):
            folder = root / f"{when}-{step}"
            shutil.copytree(root / "talk", folder)
            died = forked(work, folder, step, when) == signal.SIGKILL
            forked(go_on, folder)
            print(folder.name, died, flush=True)  # noqa: T201
            if not died:
                break


if __name__ == "__main__":
    main(Path(sys.argv[1]))
