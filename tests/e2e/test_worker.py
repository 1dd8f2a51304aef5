"""A worker in a process of its own: killed at every step, nothing is lost or done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import environment
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_storage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"),
]

OWNER = Owner("default", "userA", "p1")
DYING = Path(__file__).with_name("dying_worker.py")


def deaths(root: Path) -> dict[str, bool]:
    """Let workers die at every step; return for each folder whether one did."""
    done = subprocess.run(
        [sys.executable, str(DYING), str(root)], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: died == "True" for name, died in lines}


async def outcome(folder: Path) -> dict[str, Any]:
    """Return everything a worker leaves behind, without ids and times."""

    def look(stores: Stores) -> dict[str, Any]:
        rows = stores.memories.find(OWNER, MemoryFilter())
        [session] = stores.sessions.find(OWNER)
        return {
            "memories": sorted((row.type, row.key, row.content, row.status) for row in rows),
            "sources": sorted(len(row.source_message_ids) for row in rows),
            "jobs": sorted((job.task_type, job.status) for job in stores.jobs.find(OWNER.user)),
            "session": (session.watermark, session.waiting, session.archived_upto),
            "lost": stores.formation.reconcile().lost,
            "wrong": stores.upkeep.check(),
        }

    async with open_storage(load_settings(environment(folder))) as storage:
        return {**await storage.read(look), "archived": archived(folder)}


def archived(folder: Path) -> int:
    """Return how many messages the archive holds."""
    [file] = folder.rglob("s1.json")
    return len(json.loads(file.read_text(encoding="utf-8"))["messages"])


async def test_killed_at_every_step_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    died = deaths(tmp_path)

    calm = [name for name, one in died.items() if not one]
    expected = await outcome(tmp_path / calm[0])
    assert len(calm) == 2  # one step beyond the last, before and after
    assert sum(died.values()) >= 16
    assert expected["jobs"] == [
        ("archive", "completed"),
        ("full", "completed"),
        ("profile", "completed"),
    ]
    assert expected["session"] == (4, 0, 4)
    assert (expected["lost"], expected["wrong"], expected["archived"]) == (0, [], 4)
    for name in died:
        assert await outcome(tmp_path / name) == expected, name
