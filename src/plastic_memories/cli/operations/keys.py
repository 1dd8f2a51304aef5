"""`plastic-memories keys`"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import Place, local_command
from plastic_memories.cli.installation import opened
from plastic_memories.cli.output import Screen, when
from plastic_memories.hub.api_keys import Keys
from plastic_memories.model.key import ANY_USER, ApiKey, KeyLimits
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import FIRST_USER, SystemClock

T = TypeVar("T")
_DAY_S = 86_400


@click.group()
def keys() -> None:
    """Make, list and revoke API keys."""


@keys.command()
@click.option("--user", default=FIRST_USER, show_default=True, help="Whose key; '*' for an app.")
@click.option("--app-key", is_flag=True, help="May act for every user: the same as --user '*'.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True)
@click.option("--label", default="", help="What it is for; shown in lists and in the audit.")
@click.option("--read-only", is_flag=True, help="May change nothing.")
@click.option("--persona", default="", help="Only for this persona.")
@click.option("--app", default="", help="Only for this app.")
@click.option("--expires-days", type=click.FloatRange(0, min_open=True), help="Until when.")
@click.option("--allow-reset", is_flag=True, help="May erase everything of its tenant at once.")
@local_command
def create(place: Place, user: str, app_key: bool, tenant: str, label: str, **limits: Any) -> None:
    """Make a key; its text is shown this once."""
    who = ANY_USER if app_key else user
    narrowed = _limits(**limits)
    text, record = _with_keys(lambda known: known.create(tenant, who, label, narrowed))
    screen = Screen.of(place)
    if screen.told({"key": text, **_dumped(record)}):
        return
    screen.line(f"✓ key {record.id} for {_whose(record)}", style="green")
    screen.line(f"  {text}", style="bold")
    screen.line("  Keep it: only its digest is stored here.", style="dim")
    if record.is_app_key:
        screen.line("  Requests name their user in the header X-User-Id.", style="dim")


def _limits(
    read_only: bool, persona: str, app: str, expires_days: float | None, allow_reset: bool
) -> KeyLimits:
    return KeyLimits(
        read_only=read_only,
        persona_id=persona,
        source_app=app,
        allow_reset=allow_reset,
        expires_at=time.time() + expires_days * _DAY_S if expires_days else None,
    )


@keys.command(name="list")
@click.option("--revoked", is_flag=True, help="Those that are revoked, too.")
@local_command
def list_keys(place: Place, revoked: bool) -> None:
    """Show the keys: those made here, and those of the environment."""
    stored = _with_keys(lambda known: known.all())
    found = [*configuration.load().keys, *stored]
    shown = [key for key in found if revoked or key.revoked_at is None]
    screen = Screen.of(place)
    if screen.told({"items": [_dumped(key) for key in shown]}):
        return
    if not shown:
        screen.line("No keys yet: the first start of the hub makes one.", style="dim")
        return
    rows = [
        [key.id or "", _whose(key), key.label, _narrowed(key.limits), _state(key)] for key in shown
    ]
    screen.table(["#", "for", "label", "limits", "made"], rows)


@keys.command()
@click.argument("key_id", type=click.IntRange(1))
@local_command
def revoke(place: Place, key_id: int) -> None:
    """Revoke a key; it stops working within a second."""
    _with_keys(lambda known: known.revoke(key_id))
    screen = Screen.of(place)
    if not screen.told({"revoked": key_id}):
        screen.line(f"✓ key {key_id} is revoked", style="green")


def _with_keys(work: Callable[[Keys], Awaitable[T]]) -> T:
    async def done() -> T:
        settings = configuration.load()
        async with opened(settings) as storage:
            return await work(Keys(storage, SystemClock(), settings.keys))

    return asyncio.run(done())


def _whose(key: ApiKey) -> str:
    user = "every user" if key.is_app_key else key.user_id
    return user if key.tenant_id == DEFAULT_TENANT else f"{user} of {key.tenant_id}"


def _narrowed(limits: KeyLimits) -> str:
    parts = [
        "read only" if limits.read_only else "",
        f"persona {limits.persona_id}" if limits.persona_id else "",
        f"app {limits.source_app}" if limits.source_app else "",
        "may reset" if limits.allow_reset else "",
        f"until {when(limits.expires_at)}" if limits.expires_at else "",
    ]
    return ", ".join(part for part in parts if part)


def _state(key: ApiKey) -> str:
    if not key.id:
        return "environment"
    return f"revoked {when(key.revoked_at)}" if key.revoked_at else when(key.created_at)


def _dumped(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id or None,
        "tenant": key.tenant_id,
        "user": key.user_id,
        "label": key.label,
        "limits": asdict(key.limits),
        "created_at": key.created_at or None,
        "revoked_at": key.revoked_at,
    }


COMMANDS = {"keys": keys}
