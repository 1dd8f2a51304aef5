"""`plastic-memories keys`"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.installation import open_installed_storage
from plastic_memories.cli.output import Screen, local_time_text
from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.model.key import ANY_USER, ApiKey, KeyLimits
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import FIRST_USER, SystemClock

T = TypeVar("T")
_DAY_S = 86_400


@click.group()
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.option(
    "--user", default=FIRST_USER, show_default=True, help="User of the key; '*' for an app key."
)
@click.option("--app-key", is_flag=True, help="May act for every user: the same as --user '*'.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True)
@click.option("--label", default="", help="Label, shown in lists and in the audit.")
@click.option("--read-only", is_flag=True, help="The key may only read.")
@click.option("--persona", default="", help="Only for this persona.")
@click.option("--app", default="", help="Only for this app.")
@click.option(
    "--expires-days", type=click.FloatRange(0, min_open=True), help="Days until the key expires."
)
@click.option("--allow-reset", is_flag=True, help="May erase everything of its tenant at once.")
@local_command
def create(
    options: CliOptions, user: str, app_key: bool, tenant: str, label: str, **limits: Any
) -> None:
    """Create a key; its text is shown only once."""
    who = ANY_USER if app_key else user
    narrowed = _limits(**limits)
    text, record = _run_with_keys(lambda known: known.create(tenant, who, label, narrowed))
    screen = Screen.for_options(options)
    if screen.print_if_json({"key": text, **_key_json(record)}):
        return
    screen.line(f"✓ key {record.id} for {_key_owner(record)}", style="green")
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
@click.option("--revoked", is_flag=True, help="Also list revoked keys.")
@local_command
def list_keys(options: CliOptions, revoked: bool) -> None:
    """List the keys: those created here, and those of the environment."""
    stored = _run_with_keys(lambda known: known.list_keys())
    found = [*configuration.load_settings().keys, *stored]
    shown = [key for key in found if revoked or key.revoked_at is None]
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [_key_json(key) for key in shown]}):
        return
    if not shown:
        screen.line("No keys yet: the hub creates one at its first start.", style="dim")
        return
    rows = [
        [key.id or "", _key_owner(key), key.label, _limits_text(key.limits), _key_state(key)]
        for key in shown
    ]
    screen.table(["#", "for", "label", "limits", "made"], rows)


@keys.command()
@click.argument("key_id", type=click.IntRange(1))
@local_command
def revoke(options: CliOptions, key_id: int) -> None:
    """Revoke a key; it stops working within a second."""
    _run_with_keys(lambda known: known.revoke(key_id))
    screen = Screen.for_options(options)
    if not screen.print_if_json({"revoked": key_id}):
        screen.line(f"✓ key {key_id} is revoked", style="green")


def _run_with_keys(work: Callable[[ApiKeys], Awaitable[T]]) -> T:
    async def open_and_work() -> T:
        settings = configuration.load_settings()
        async with open_installed_storage(settings) as storage:
            return await work(ApiKeys(storage, SystemClock(), settings.keys))

    return asyncio.run(open_and_work())


def _key_owner(key: ApiKey) -> str:
    user = "every user" if key.is_app_key else key.user_id
    return user if key.tenant_id == DEFAULT_TENANT else f"{user} of {key.tenant_id}"


def _limits_text(limits: KeyLimits) -> str:
    parts = [
        "read only" if limits.read_only else "",
        f"persona {limits.persona_id}" if limits.persona_id else "",
        f"app {limits.source_app}" if limits.source_app else "",
        "may reset" if limits.allow_reset else "",
        f"until {local_time_text(limits.expires_at)}" if limits.expires_at else "",
    ]
    return ", ".join(part for part in parts if part)


def _key_state(key: ApiKey) -> str:
    if not key.id:
        return "environment"
    return (
        f"revoked {local_time_text(key.revoked_at)}"
        if key.revoked_at
        else local_time_text(key.created_at)
    )


def _key_json(key: ApiKey) -> dict[str, Any]:
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
