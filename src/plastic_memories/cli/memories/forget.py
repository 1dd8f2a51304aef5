"""`plastic-memories forget`"""

from __future__ import annotations

from typing import Any

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.confirmation import confirm_or_abort
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.language import tr
from plastic_memories.cli.memories import memory_rows
from plastic_memories.cli.output import Screen, counts_text
from plastic_memories.model.memory import MemoryType
from plastic_memories_client import AsyncPlasticMemoriesClient, Forgotten, MemoryItem


@click.command()
@click.argument("memory_ids", nargs=-1, type=click.IntRange(1), metavar="[ID]...")
@click.option("--type", "kind", type=click.Choice([kind.value for kind in MemoryType]))
@click.option("--mkey", "name", help="The memory's key, with --type.", metavar="KEY")
@click.option("--query", help="Forget what matches; the matches are shown first.", metavar="TEXT")
@click.option("--never-again", is_flag=True, help="Never learn it again.")
@click.option(
    "--include-messages", is_flag=True, help="Also erase the messages it was learned from."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be forgotten.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@user_command
def forget(
    options: CliOptions,
    memory_ids: tuple[int, ...],
    *,
    kind: str | None,
    name: str | None,
    query: str | None,
    dry_run: bool,
    yes: bool,
    **how: bool,
) -> None:
    """Forget for good, with a receipt.

    Choose by ID, by --type and --mkey, or by --query.
    """
    which: Any = _selection(memory_ids, kind, name, query)
    if options.as_json and not (yes or dry_run):
        raise click.UsageError("--json cannot ask for confirmation: give --yes or --dry-run.")
    screen = Screen.for_options(options)

    async def work(client: AsyncPlasticMemoriesClient) -> None:
        preview = await client.forget_memory(**which, dry_run=True)
        items = await memory_rows.fetch_memories(client, preview.memory_ids)
        if not preview.memory_ids or dry_run:
            _show_preview(screen, preview, items)
            return
        if not yes:
            _show_preview(screen, preview, items)
            confirm_or_abort(tr("Forget {count} for good?", count=_count_phrase(len(items))))
        flags: Any = how
        gone = await client.forget_memory(memory_ids=preview.memory_ids, **flags)
        _show_receipt(screen, gone)

    run_with_client(options, work)


def _selection(
    memory_ids: tuple[int, ...], kind: str | None, name: str | None, query: str | None
) -> dict[str, Any]:
    ways = [bool(memory_ids), bool(kind or name), query is not None]
    if sum(ways) != 1 or bool(kind) != bool(name):
        raise click.UsageError("Name what to forget: ID..., or --type and --mkey, or --query.")
    if memory_ids:
        return {"memory_ids": list(memory_ids)}
    return {"query": query} if query is not None else {"type": kind, "key": name}


def _count_phrase(number: int) -> str:
    return tr("this memory") if number == 1 else tr("these {number} memories", number=number)


def _show_preview(screen: Screen, preview: Forgotten, items: list[MemoryItem]) -> None:
    if screen.print_if_json(
        {**preview.raw, "memories": [memory_rows.memory_json(item) for item in items]}
    ):
        return
    if items:
        memory_rows.print_memories(screen, items)
    else:
        screen.line(tr("There is nothing to forget."), style="dim")


def _show_receipt(screen: Screen, gone: Forgotten) -> None:
    if screen.print_if_json(gone.raw):
        return
    receipt = gone.receipt if isinstance(gone.receipt, dict) else {}
    screen.line(tr("✓ Forgotten: {ids}", ids=_id_list(gone.memory_ids)), style="green")
    screen.line(f"  {tr('erased    ')} {counts_text(receipt.get('erased', {}))}")
    screen.line(f"  {tr('hidden    ')} {counts_text(receipt.get('hidden', {}))}")
    screen.line(f"  {tr('remaining ')} {counts_text(receipt.get('remaining', {}))}")
    if receipt.get("never_again"):
        screen.line(tr("  It will not be learned again."))
    for note in receipt.get("elsewhere", ()):
        screen.line(f"  {tr('elsewhere ')} {note}", style="dim")


def _id_list(memory_ids: list[int]) -> str:
    return ", ".join(f"#{memory_id}" for memory_id in memory_ids) or tr("nothing")


COMMANDS = {"forget": forget}
