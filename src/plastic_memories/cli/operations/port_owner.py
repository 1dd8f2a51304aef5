"""Says who listens at a port that a server wanted."""

from __future__ import annotations

import asyncio
from pathlib import Path

from plastic_memories.cli.hub_address import hub_address
from plastic_memories.cli.hub_connection import fetch_health, local_key
from plastic_memories.settings import Settings


def describe_port_owner(settings: Settings) -> str:
    """Return one sentence: the hub of this installation, a foreign hub, or another program."""
    url = hub_address(settings)
    if asyncio.run(fetch_health(url)) is None:  # what is no hub is not shown our key
        return "Another program listens there."
    known = asyncio.run(fetch_health(url, local_key(url, settings, ""))) or {}
    served = known.get("db_path")
    if served is None:
        return "A foreign hub listens there: it does not know this installation's key."
    if Path(str(served)).resolve() != settings.db_path.resolve():
        return f"A foreign hub listens there: it serves another database, {served}."
    return "The hub of this database runs there already."
