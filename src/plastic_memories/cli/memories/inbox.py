"""`plastic-memories inbox`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.confirmation import prompt
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.language import tr
from plastic_memories.cli.memories import memory_rows
from plastic_memories.cli.output import Screen, local_time_text
from plastic_memories.model.memory import LIST_SLOTS
from plastic_memories_client import (
    AsyncPlasticMemoriesClient,
    ChangedItem,
    Conflict,
    MemoryItem,
    Replaced,
)

_QUIT = "q"
_CHOICES = {
    "c": "confirm", "b": "keep both", "e": "edit and confirm", "r": "reject",
    "n": "reject, never again", "s": "skip", _QUIT: "quit",
}  # fmt: skip
_YES, _HELP = "y", "?"  # y is the same as c; neither is in the line of choices
_WOULD_REPLACE = (
    "{count} would replace a memory: review them with plastic-memories inbox, or give --replace."
)
_EXPLANATIONS = {
    "c": "it holds from now on (y does the same)",
    "b": "it holds beside what is there",
    "e": "you change its text, then it holds",
    "r": "it goes away; it may be learned again",
    "n": "it goes away, and is not learned again",
    "s": "it waits; you are asked another time",
    _QUIT: "the rest waits",
}


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A candidate of one of the user's personas."""

    item: MemoryItem
    persona_id: str

    @property
    def replaces(self) -> list[Replaced]:
        return self.item.replaces

    @property
    def may_coexist(self) -> bool:
        return bool(self.replaces) and self.item.type in LIST_SLOTS

    def to_json(self) -> dict[str, Any]:
        return {**memory_rows.memory_json(self.item), "persona_id": self.persona_id}


@dataclass(frozen=True, slots=True)
class InboxAnswers:
    """The answers given on the command line."""

    yes: bool
    replace: bool
    confirmed: tuple[int, ...]
    rejected: tuple[int, ...]
    never_again: bool


@click.command()
@click.option("--all", "every_persona", is_flag=True, help="Candidates of all the user's personas.")
@click.option("--yes", is_flag=True, help="Confirm all that replace nothing, without asking.")
@click.option("--confirm", "confirmed", type=int, multiple=True, help="Confirm this candidate.")
@click.option("--reject", "rejected", type=int, multiple=True, help="Reject this candidate.")
@click.option("--never-again", is_flag=True, help="With --reject: never learn it again.")
@click.option("--replace", is_flag=True, help="With --yes: also those that replace a memory.")
@user_command
def inbox(options: CliOptions, every_persona: bool, **answers: Any) -> None:
    """Review candidates that wait for confirmation.

    With --json the candidates are only shown. --confirm and --reject may be given several times.
    """
    screen = Screen.for_options(options)
    given = InboxAnswers(**answers)

    async def work(client: AsyncPlasticMemoriesClient) -> None:
        personas = [options.persona]
        if every_persona:
            personas = [one.persona_id for one in await client.persona_list()]
        if given.confirmed or given.rejected:
            await _answer_all(screen, client, given)
            return
        waiting = await _list_candidates(client, personas)
        if given.yes:
            await _confirm_all(screen, client, waiting, given.replace)
        elif not screen.print_if_json({"items": [one.to_json() for one in waiting]}):
            await _review_each(screen, client, waiting)

    run_with_client(options, work)


async def _list_candidates(
    client: AsyncPlasticMemoriesClient, personas: list[str]
) -> list[InboxItem]:
    found: list[InboxItem] = []
    for persona_id in personas:
        items = memory_rows.iterate_memories(client, status="candidate", persona_id=persona_id)
        found += [InboxItem(item, persona_id) async for item in items]
    # Oldest first: an answer may decide about a later candidate.
    return sorted(found, key=lambda one: one.item.id)


async def _reload(client: AsyncPlasticMemoriesClient, one: InboxItem) -> InboxItem:
    """Fetch a candidate again: confirming another may have changed which memory it replaces."""
    item = await client.memory_get(one.item.id, persona_id=one.persona_id)
    return InboxItem(item, one.persona_id)


async def _answer_all(
    screen: Screen, client: AsyncPlasticMemoriesClient, given: InboxAnswers
) -> None:
    """Give the same answer to several candidates of one persona."""
    items: list[ChangedItem] = []
    if given.confirmed:
        items += (await client.confirm_many(given.confirmed)).items
    if given.rejected:
        done = await client.reject_many(given.rejected, never_again=given.never_again)
        items += done.items
    if screen.print_if_json({"items": [item.model_dump(mode="json") for item in items]}):
        return
    for item in items:
        if item.error:
            screen.line(f"✗ #{item.memory_id}: {item.error['message']}", style="red")
        else:
            done_text = tr("✓ #{id} is {status}", id=item.memory_id, status=item.memory_status)
            screen.line(done_text, style="green")


async def _confirm_all(
    screen: Screen, client: AsyncPlasticMemoriesClient, waiting: list[InboxItem], replace: bool
) -> None:
    confirmed: list[int] = []
    left: list[InboxItem] = []
    for one in waiting:
        current = await _reload(client, one)
        if current.replaces and not replace:
            left.append(current)
            continue
        await _confirm(client, current)
        confirmed.append(one.item.id)
    answer = {"confirmed": confirmed, "left": [one.to_json() for one in left]}
    if screen.print_if_json(answer):
        return
    screen.line(tr("✓ {count} confirmed", count=len(confirmed)), style="green")
    if left:
        screen.line(tr(_WOULD_REPLACE, count=len(left)), style="yellow")


async def _review_each(
    screen: Screen, client: AsyncPlasticMemoriesClient, waiting: list[InboxItem]
) -> None:
    if not waiting:
        screen.line(tr("The inbox is empty."), style="dim")
    for number, one in enumerate(waiting, start=1):
        current = await _reload(client, one)
        _print_item(screen, current, f"{number}/{len(waiting)}")
        answer = _prompt_text(current)
        if answer == _QUIT:
            break
        try:
            screen.line(await _apply_answer(client, current, answer), style="green")
        except Conflict as problem:
            screen.line(f"  ✗ {problem.message}", style="red")


def _print_item(screen: Screen, one: InboxItem, place_in_line: str) -> None:
    item = one.item
    screen.line()
    screen.line(f"{place_in_line}  {one.persona_id}  {item.type} {item.key}  #{item.id}", "bold")
    screen.text(item.content, "yellow", indent=2)
    if item.quote and item.quote != item.content:
        screen.text(f"“{item.quote}”", "italic", indent=2)
    screen.text(_source_text(item), "dim", indent=2)
    for row in one.replaces:
        replaced = tr("replaces #{id}: {content}", id=row.memory_id, content=row.content)
        screen.text(replaced, "red", indent=2)


def _source_text(item: MemoryItem) -> str:
    parts = [
        item.source_type,
        tr("by {name}", name=item.speaker) if item.speaker else "",
        tr("in {app}", app=item.source_app) if item.source_app else "",
        tr("session {name}", name=item.session_id) if item.session_id else "",
        _message_list_text(item.source_message_ids),
        tr("for bot {name}", name=item.bot_id) if item.bot_id else "",
        local_time_text(item.created_at),
        "" if item.confidence is None else tr("confidence {share:.0%}", share=item.confidence),
    ]
    return ", ".join(part for part in parts if part)


def _message_list_text(ids: list[int]) -> str:
    named = ", ".join(f"#{one}" for one in ids)
    return tr("from message {ids}", ids=named) if ids else ""


def _prompt_text(one: InboxItem) -> str:
    offered = {key: tr(text) for key, text in _CHOICES.items() if key != "b" or one.may_coexist}
    if one.replaces:
        offered["c"] = tr("confirm and replace")
    shown = {**offered, _HELP: tr("help")}
    click.echo("  " + "  ".join(f"[{key}] {text}" for key, text in shown.items()))
    choice = click.Choice([*offered, _YES, _HELP], case_sensitive=False)
    while True:
        answer: str = prompt(tr("  Your answer"), type=choice, default="s", show_choices=False)
        if answer != _HELP:
            return "c" if answer == _YES else answer
        for key, text in offered.items():
            click.echo(f"    {key}  {text}: {tr(_EXPLANATIONS[key])}")


async def _apply_answer(client: AsyncPlasticMemoriesClient, one: InboxItem, answer: str) -> str:
    item = one.item
    if answer == "s":
        return tr("  left for later")
    if answer in ("r", "n"):
        never = answer == "n"
        await client.reject(item.id, never_again=never, persona_id=one.persona_id)
        return tr("  rejected, and never again") if never else tr("  rejected")
    content = prompt(tr("  New text"), default=item.content) if answer == "e" else None
    await _confirm(client, one, content=content, coexist=answer == "b")
    return tr("  ✓ confirmed")


async def _confirm(
    client: AsyncPlasticMemoriesClient,
    one: InboxItem,
    *,
    content: str | None = None,
    coexist: bool = False,
) -> None:
    newest = one.replaces[0].memory_id if one.replaces and not coexist else None
    await client.confirm(
        one.item.id, newest, coexist=coexist, content=content, persona_id=one.persona_id
    )


COMMANDS = {"inbox": inbox}
