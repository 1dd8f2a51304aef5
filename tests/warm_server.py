"""Server processes that start at once: forks of one that has imported everything already."""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn

_CAN_FORK = sys.platform != "win32"
_PROCESSES = multiprocessing.get_context("forkserver" if _CAN_FORK else "spawn")
if _CAN_FORK:
    # Not `plastic_memories.api`: that one reads the settings, and each server has its own.
    _PROCESSES.set_forkserver_preload(
        [
            "plastic_memories.wiring",
            "plastic_memories.adapters.archive.files",
            "plastic_memories.adapters.judge.rules",
            "plastic_memories.adapters.recall.hybrid",
            "plastic_memories.adapters.sqlite.backend",
            "plastic_memories.language.reading.extraction",
            "uvicorn",
            "uvicorn.lifespan.on",
            "uvicorn.loops.auto",
            "uvicorn.protocols.http.auto",
            "uvicorn.protocols.websockets.auto",
        ]
    )


def started(env: dict[str, str], listener: socket.socket, output: Path) -> BaseProcess:
    """Start `uvicorn plastic_memories.api:app` at a socket that is open already."""
    process = _PROCESSES.Process(target=_serve, args=(env, listener, output))
    process.start()
    return process


def _serve(env: dict[str, str], listener: socket.socket, output: Path) -> None:
    os.environ.clear()
    os.environ.update(env)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    uvicorn.run("plastic_memories.api:app", fd=listener.fileno(), log_level="warning")
