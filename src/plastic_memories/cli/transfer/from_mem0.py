"""`plastic-memories import --from mem0`: convert an export of mem0."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from plastic_memories.cli.hub_connection import HubConnection
from plastic_memories.formats.mem0_export import Mem0Entry, Mem0Export, read_mem0_export

_BATCH_SIZE = 500
_TRANSFER_TIMEOUT_S = 3600.0
ProgressReport = Callable[[str, int, int], None]


def load_export_file(source: Path, user: str) -> Mem0Export:
    """Load the memories of one user from the file."""
    try:
        export = read_mem0_export(source.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise click.ClickException(f"{source} is not text in UTF-8.") from None
    named = sorted(name for name in export.users if name)
    if len(named) > 1 and not user:
        counts = ", ".join(f"{name} ({export.users[name]})" for name in named)
        raise click.ClickException(
            f"The file holds memories of {len(named)} users: {counts}. Choose one with "
            "--mem0-user; with an app key, say with --user whose they become."
        )
    if user:
        export.entries = [entry for entry in export.entries if entry.user_id == user]
    return export


def choose_persona(export: Mem0Export, persona_id: str, *, is_for_all: bool) -> None:
    """Give the persona to memories that name no agent, or to all."""
    export.entries = [
        replace(entry, line={**entry.line, "persona_id": persona_id})
        if is_for_all or not entry.names_agent
        else entry
        for entry in export.entries
    ]


async def import_memories(
    connection: HubConnection, export: Mem0Export, dry_run: bool, report: ProgressReport
) -> dict[str, Any]:
    """Send the memories in batches; return one report, with positions in the file."""
    counts: Counter[str] = Counter()
    conflicts: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = [
        {"line": place, "reason": reason} for place, reason in export.skipped
    ]
    entries = export.entries
    import_id: int | None = None
    async with connection.client(timeout_s=_TRANSFER_TIMEOUT_S) as client:
        for start in range(0, len(entries), _BATCH_SIZE):
            batch = entries[start : start + _BATCH_SIZE]
            lines = [json.dumps(entry.line, ensure_ascii=False) for entry in batch]
            done = await client.import_(lines, dry_run=dry_run, import_id=import_id)
            import_id = done.import_id
            counts.update(done.counts)
            conflicts += _with_file_positions(done.conflicts, batch)
            skipped += _with_file_positions(done.raw.get("skipped") or [], batch)
            report("", start + len(batch), len(entries))
    skipped.sort(key=lambda one: int(one["line"]))
    return {
        "status": "ok",
        "dry_run": dry_run,
        "import_id": import_id,
        "counts": dict(counts),
        "conflicts": conflicts,
        "skipped": skipped,
    }


def _with_file_positions(
    found: Sequence[dict[str, Any]], batch: Sequence[Mem0Entry]
) -> list[dict[str, Any]]:
    """Replace positions in a batch with positions in the file."""
    return [{**one, "line": batch[int(one["line"]) - 1].place} for one in found]
