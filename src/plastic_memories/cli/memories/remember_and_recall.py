"""`plastic-memories remember`, `recall` and `list`"""

from __future__ import annotations

from typing import Any

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.language import tr
from plastic_memories.cli.memories import memory_rows
from plastic_memories.cli.output import Screen
from plastic_memories.model.memory import MemoryType, Scope, Status
from plastic_memories.model.owner import Realm
from plastic_memories.rules.lifecycle.note_keys import note_key
from plastic_memories.rules.lifecycle.tombstones import NEVER_AGAIN
from plastic_memories_client import (
    AsyncPlasticMemoriesClient,
    MemoryItem,
    Message,
    RecallResult,
    WriteResult,
)

_TYPES = click.Choice([kind.value for kind in MemoryType])
_SCOPES = click.Choice([scope.value for scope in Scope])
_REALMS = click.Choice([realm.value for realm in Realm])
_STATUSES = click.Choice([*(status.value for status in Status), "all"])

_NEVER_AGAIN_LINE = (
    "Not remembered: you marked this never again. To store it all the same, name its type: --type"
)


@click.command()
@click.argument("text")
@click.option("--type", "kind", type=_TYPES, help="Memory type; by default derived from the text.")
@click.option("--mkey", "name", help="The memory's key, such as basic_info.name.", metavar="KEY")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--scope", type=_SCOPES, help="Where the memory is visible.")
@click.option("--importance", type=click.FloatRange(0, 1), help="From 0 to 1.")
@click.option(
    "--days", type=click.FloatRange(0, min_open=True), help="Days until the memory expires."
)
@click.option("--confirm", is_flag=True, help="Confirm at once, if there is no conflict.")
@user_command
def remember(
    options: CliOptions, text: str, kind: str | None, name: str | None, confirm: bool, **fields: Any
) -> None:
    """Remember a text.

    Statements about the user are extracted (叫我小林, I am allergic to peanuts); every other
    sentence becomes a note. With --type the text is stored as it is.
    """

    async def work(client: AsyncPlasticMemoriesClient) -> tuple[WriteResult, list[MemoryItem]]:
        if kind is None and name is None:
            said = [Message(role="user", content=text)]
            written = await client.write(said, confirm=confirm, keep_rest=True)
            if not written.items and not _is_never_again(written):
                written = await client.write_item("note", note_key(text), text, **item_fields)
        else:
            key = name or note_key(text)
            written = await client.write_item(kind or "note", key, text, **item_fields)
            if confirm and written.memory_id and written.memory_status == "candidate":
                await client.confirm(written.memory_id)
        ids = [item.memory_id for item in written.items] or [written.memory_id]
        return written, await memory_rows.fetch_memories(client, [one for one in ids if one])

    item_fields: Any = _memory_fields(**fields)
    written, items = run_with_client(options, work)
    screen = Screen.for_options(options)
    if screen.print_if_json(
        {**written.raw, "memories": [memory_rows.memory_json(item) for item in items]}
    ):
        return
    _print_written(screen, items)
    if _is_never_again(written):
        screen.line(tr(_NEVER_AGAIN_LINE), style="yellow")


def _is_never_again(written: WriteResult) -> bool:
    """Return whether the user had forbidden to learn a part of the text again."""
    return any(part.reason == NEVER_AGAIN for part in written.skipped)


def _memory_fields(
    tags: tuple[str, ...], scope: str | None, importance: float | None, days: float | None
) -> dict[str, Any]:
    given = {
        "tags": list(tags) or None,
        "scope": scope,
        "importance": importance,
        "ttl_seconds": days * 86_400 if days else None,
    }
    return {field: value for field, value in given.items() if value is not None}


def _print_written(screen: Screen, items: list[MemoryItem]) -> None:
    for item in items:
        waits = item.status == "candidate"
        mark, style = ("?", "yellow") if waits else ("✓", "green")
        screen.line(f"{mark} {item.type} {item.key}: {item.content}  (#{item.id})", style=style)
    if any(item.status == "candidate" for item in items):
        screen.line(tr("It waits for confirmation: plastic-memories inbox"), style="dim")


@click.command()
@click.argument("query", default="")
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True)
@click.option("--budget", type=click.IntRange(1), help="Maximum tokens of the prompt block.")
@click.option("--block", is_flag=True, help="Print the block for a prompt, nothing else.")
@click.option("--explain", is_flag=True, help="Show where each score comes from.")
@user_command
def recall(
    options: CliOptions, query: str, limit: int, budget: int | None, block: bool, explain: bool
) -> None:
    """Recall memories relevant to a text, best first."""

    async def work(client: AsyncPlasticMemoriesClient) -> tuple[RecallResult, str]:
        found = await client.recall(query, limit=limit, budget_tokens=budget, explain=explain)
        return found, await _text_search_reason(client) if "vectors" in found.degraded else ""

    found, why = run_with_client(options, work, by_meaning=bool(query.strip()))
    screen = Screen.for_options(options)
    if screen.print_if_json(found.raw):
        return
    if block:
        click.echo(found.injection_block)
        return
    _print_recalled(screen, found, explain)
    if why:
        screen.line(why, style="yellow")


async def _text_search_reason(client: AsyncPlasticMemoriesClient) -> str:
    """Return why vector search was not used."""
    seen = (await client.health()).components.get("embedder", {})
    error = seen.get("error") or tr("see plastic-memories doctor")
    status = seen.get("status", "late")
    return tr("By text alone: the embedder is {status}. {error}", status=status, error=error)


def _print_recalled(screen: Screen, found: RecallResult, explain: bool) -> None:
    if found.memory_items:
        memory_rows.print_memories(screen, found.memory_items, status=False)
    else:
        screen.line(tr("No relevant memories."), style="dim")
    for snippet in found.chat_snippets[:5]:
        screen.text(f"{snippet.speaker or snippet.role}: {snippet.content}", "dim", indent=2)
    if explain and isinstance(found.explain, list):
        memory_rows.print_scores(screen, found.explain)
    if found.degraded:
        parts = ", ".join(found.degraded)
        screen.line(tr("Without: {parts}", parts=parts), style="yellow")
    size = tr("{tokens} tokens; --block shows what a prompt would get", tokens=found.tokens)
    screen.line(size, style="dim")


@click.command(name="list")
@click.option("--status", type=_STATUSES, default="active", show_default=True)
@click.option("--type", "kind", type=_TYPES)
@click.option("--scope", type=_SCOPES, help="`global`: those of all the user's personas.")
@click.option("--realm", type=_REALMS)
@click.option("-q", "--containing", metavar="TEXT", help="Only memories that contain this text.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@user_command
def list_memories(options: CliOptions, limit: int, **filters: str | None) -> None:
    """List memories, newest first."""

    async def work(client: AsyncPlasticMemoriesClient) -> list[MemoryItem]:
        return [item async for item in memory_rows.iterate_memories(client, limit + 1, **wanted)]

    names = {"kind": "type", "containing": "q"}
    wanted: Any = {names.get(name, name): value for name, value in filters.items() if value}
    found = run_with_client(options, work)
    items, more = found[:limit], len(found) > limit
    screen = Screen.for_options(options)
    if screen.print_if_json(
        {"items": [memory_rows.memory_json(item) for item in items], "more": more}
    ):
        return
    if not items:
        none = tr("{persona} has no such memories.", persona=options.persona)
        screen.line(none, style="dim")
        return
    memory_rows.print_memories(screen, items)
    if more:
        more_text = tr("There are more; show them with --limit {limit}.", limit=limit * 4)
        screen.line(more_text, style="dim")


COMMANDS = {"remember": remember, "recall": recall, "list": list_memories}
