"""`plastic-memories jobs`, `worker`, `archive` and `events`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from plastic_memories.hub.conversation.sessions import SessionSelector
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_hub

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]


def said(run: Run, tmp_path: Path, *sentences: str, ended: bool = False) -> None:
    """Leave a conversation of the user `local` that waits to be digested."""
    settings = load_settings(
        {
            "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
            "PLASTIC_MEMORIES_WORKER": "off",
        }
    )
    owner = Owner("default", "local", "default")
    messages = [
        Message(owner=owner, role=Role.USER, content=text, ts=time.time(), session_id="s1")
        for text in sentences
    ]

    async def talk() -> None:
        async with open_hub(settings) as hub:
            await hub.messages.append(hub_caller(owner.user), owner, messages)
            if ended:
                session = SessionSelector(owner=owner, session_id="s1")
                await hub.sessions.end(hub_caller(owner.user), session)

    run("list")  # makes the first key
    asyncio.run(talk())


def test_jobs_are_run_and_shown(run: Run, parsed: Parsed, tmp_path: Path) -> None:
    said(run, tmp_path, "叫我 tcmiku")

    done = parsed(run("jobs", "run", "--session", "s1", "--json"))
    shown = run("jobs", "list")
    dead = parsed(run("jobs", "list", "--status", "dead", "--json"))
    replayed = parsed(run("jobs", "replay", "--json"))

    assert (done["status"], done["trigger"]) == ("completed", "explicit")
    assert "completed" in shown.stdout
    assert (dead["items"], replayed["replayed"]) == ([], 0)
    assert "叫我 tcmiku" in run("recall", "我叫什么").stdout


def test_finished_conversations_are_listed_and_shown(
    run: Run, parsed: Parsed, tmp_path: Path
) -> None:
    assert "No finished conversations." in run("archive", "list").stdout
    said(run, tmp_path, "叫我 tcmiku", ended=True)
    run("worker", "--once")

    listed = parsed(run("archive", "list", "--json"))
    shown = run("archive", "show", "s1")
    missing = run("archive", "show", "s2")

    assert [talk["session_id"] for talk in listed["items"]] == ["s1"]
    assert "s1" in run("archive", "list").stdout
    assert "叫我 tcmiku" in shown.stdout
    assert missing.exit_code == 1
    assert "not_found" in missing.output


def test_a_worker_does_what_is_due(run: Run, parsed: Parsed, tmp_path: Path) -> None:
    said(run, tmp_path, *["嗯"] * 9, "我海鲜过敏")

    done = parsed(run("worker", "--once", "--json"))

    assert done == {"done": 2}  # what must always be known, and the digest
    assert "我海鲜过敏" in run("recall", "晚饭", PLASTIC_MEMORIES_WORKER="off").stdout


def test_events_that_come_up_are_listed(run: Run, parsed: Parsed, tmp_path: Path) -> None:
    said(run, tmp_path, "明天我要去面试")
    run("jobs", "run")

    [event] = parsed(run("events", "--days", "3", "--json"))["items"]
    none = run("events", "--days", "0")

    assert event["days_away"] == 1
    assert event["next_date"] in run("events").stdout
    assert "Nothing in the next 0 days." in none.stdout
