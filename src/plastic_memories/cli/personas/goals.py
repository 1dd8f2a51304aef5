"""`plastic-memories goals`"""

from __future__ import annotations

import click

from plastic_memories.cli.command_options import Place, user_command
from plastic_memories.cli.hub_connection import ask
from plastic_memories.cli.output import Screen, when
from plastic_memories.model.goal import GoalStatus
from plastic_memories_client import Changed, Goal

_STATUSES = click.Choice([status.value for status in GoalStatus])


@click.group()
def goals() -> None:
    """What the user wants to reach."""


@goals.command()
@click.argument("title")
@click.option("--details", help="More about it.")
@user_command
def add(place: Place, title: str, details: str | None) -> None:
    """Note a goal."""
    created = ask(place, lambda client: client.goal_create(title, details))
    screen = Screen.of(place)
    if not screen.told(created.raw):
        screen.line(f"✓ goal #{created.goal_id}: {title}", style="green")


@goals.command(name="list")
@click.option("--status", type=_STATUSES, help="Only those that stand so.")
@user_command
def list_goals(place: Place, status: str | None) -> None:
    """Show the goals."""
    found: list[Goal] = ask(place, lambda client: client.goals(status))
    screen = Screen.of(place)
    if screen.told({"items": [goal.model_dump(mode="json") for goal in found]}):
        return
    if not found:
        screen.line('No goals yet. Note one with: plastic-memories goals add "…"', style="dim")
        return
    rows = [
        [goal.id, goal.status, goal.title, goal.details, _links(goal), when(goal.updated_at)]
        for goal in found
    ]
    screen.table(["#", "status", "title", "details", "links", "when"], rows)


def _links(goal: Goal) -> str:
    return ", ".join(
        f"#{link.memory_id} {link.note}".strip() if link.memory_id else link.note
        for link in goal.links
    )


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@user_command
def done(place: Place, goal_id: int) -> None:
    """Say that a goal is reached."""
    _set(place, goal_id, "done")


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@click.argument("to", type=_STATUSES)
@user_command
def status(place: Place, goal_id: int, to: str) -> None:
    """Say how a goal stands."""
    _set(place, goal_id, to)


def _set(place: Place, goal_id: int, to: str) -> None:
    changed: Changed = ask(place, lambda client: client.goal_update_status(goal_id, to))
    screen = Screen.of(place)
    if not screen.told(changed.raw):
        screen.line(f"✓ goal #{goal_id} is {to}", style="green")


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@click.option("--memory", "memory_id", type=click.IntRange(1), help="A memory's id.")
@click.option("--note", help="A note.")
@user_command
def link(place: Place, goal_id: int, memory_id: int | None, note: str | None) -> None:
    """Tie a memory or a note to a goal."""
    if memory_id is None and note is None:
        raise click.UsageError("Give --memory, --note or both.")
    linked = ask(place, lambda client: client.goal_link(goal_id, memory_id, note))
    screen = Screen.of(place)
    if not screen.told(linked.raw):
        screen.line(f"✓ tied to goal #{goal_id}", style="green")


COMMANDS = {"goals": goals}
