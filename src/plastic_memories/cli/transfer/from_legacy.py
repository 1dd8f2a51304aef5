"""`plastic-memories import --from legacy`: takes over a database of the older program."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from plastic_memories import settings as configuration
from plastic_memories.adapters.sqlite.legacy.tables import read_legacy_tables
from plastic_memories.cli.command_options import CliOptions, is_given
from plastic_memories.cli.installation import check_folders, errors_naming_file
from plastic_memories.formats.legacy_database import (
    LegacyEntry,
    LegacyExport,
    convert_legacy_tables,
)
from plastic_memories.hub.hub import Hub
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.owner import User
from plastic_memories.settings import DEFAULT_TENANT
from plastic_memories.wiring import open_hub

ProgressReport = Callable[[str, int, int], None]


def load_database(source: Path, place: CliOptions) -> LegacyExport:
    """Read the file: everything, or what --user and --persona narrow it to."""
    if place.url:
        raise click.UsageError(
            "--from legacy works on the database of this machine, for all users of the file: "
            "leave out --url (PLASTIC_MEMORIES_URL)."
        )
    export = convert_legacy_tables(read_legacy_tables(source), time.time())
    for user_id in list(export.users):
        if is_given("user") and user_id != place.user:
            del export.users[user_id]
        elif is_given("persona"):
            entries = export.users[user_id]
            export.users[user_id] = [
                entry for entry in entries if entry.line["persona_id"] == place.persona
            ]
    return export


async def import_database(
    export: LegacyExport, dry_run: bool, report: ProgressReport
) -> dict[str, Any]:
    """Import each user's rows for that user, each in one transaction; return one report."""
    settings = configuration.load_settings()
    check_folders(settings)
    users: dict[str, Mapping[str, int]] = {}
    import_ids: dict[str, int | None] = {}
    conflicts: list[Mapping[str, Any]] = []
    skipped: list[Mapping[str, Any]] = [
        {"line": place, "reason": reason} for place, reason in export.skipped
    ]
    # The hub of this machine embeds and digests; this command only stores.
    quiet = {"worker": "off", "embedder": "none", "markdown": "off"}
    with errors_naming_file(settings):
        async with open_hub(settings.model_copy(update=quiet), brief=True) as hub:
            for number, (user_id, entries) in enumerate(sorted(export.users.items())):
                report(f"taking over {user_id}", number, len(export.users))
                done = await _import_user(hub, user_id, entries, dry_run)
                users[user_id] = done["counts"]
                import_ids[user_id] = done["import_id"]
                conflicts += done["conflicts"]
                skipped += done["skipped"]
    counts: Counter[str] = Counter()
    for found in users.values():
        counts.update(found)
    return {
        "status": "ok",
        "dry_run": dry_run,
        "counts": dict(counts),
        "users": users,
        "import_ids": import_ids,
        "conflicts": conflicts,
        "skipped": skipped,
    }


async def _import_user(
    hub: Hub, user_id: str, entries: Sequence[LegacyEntry], dry_run: bool
) -> dict[str, Any]:
    user = User(DEFAULT_TENANT, user_id)
    key = ApiKey(id=0, digest="", tenant_id=user.tenant_id, user_id=user_id, label="(command line)")
    lines = [json.dumps(entry.line, ensure_ascii=False) for entry in entries]
    # The owner's own data, from this machine: each row keeps its status.
    done = await hub.transfer.import_lines(
        Caller(user=user, key=key), lines, dry_run=dry_run, trust=True, match_any_status=True
    )
    return {
        "counts": dict(done.counts),
        "import_id": done.import_id,
        "conflicts": _with_places(done.conflicts, entries),
        "skipped": _with_places(done.skipped, entries),
    }


def _with_places(
    found: Sequence[Mapping[str, Any]], entries: Sequence[LegacyEntry]
) -> list[Mapping[str, Any]]:
    """Name the table and row a line came from."""
    return [{**one, "line": entries[int(one["line"]) - 1].place} for one in found]
