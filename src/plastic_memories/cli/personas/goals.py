"""`plastic-memories goals`"""

from __future__ import annotations

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen, local_time_text
from plastic_memories.model.goal import GoalStatus
from plastic_memories_client import Changed, Goal

_STATUSES = click.Choice([status.value for status in GoalStatus])


@click.group()
def goals() -> None:
    """Manage the user's goals."""


@goals.command()
@click.argument("title")
@click.option("--details", help="Details of the goal.")
@user_command
def add(options: CliOptions, title: str, details: str | None) -> None:
    """Add a goal."""
    created = run_with_client(options, lambda client: client.goal_create(title, details))
    screen = Screen.for_options(options)
    if not screen.print_if_json(created.raw):
        screen.line(f"✓ goal #{created.goal_id}: {title}", style="green")


@goals.command(name="list")
@click.option("--status", type=_STATUSES, help="Only those with this status.")
@user_command
def list_goals(options: CliOptions, status: str | None) -> None:
    """List the goals."""
    found: list[Goal] = run_with_client(options, lambda client: client.goals(status))
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [goal.model_dump(mode="json") for goal in found]}):
        return
    if not found:
        screen.line('No goals yet. Add one with: plastic-memories goals add "…"', style="dim")
        return
    rows = [
        [
            goal.id,
            goal.status,
            goal.title,
            goal.details,
            _links_text(goal),
            local_time_text(goal.updated_at),
        ]
        for goal in found
    ]
    screen.table(["#", "status", "title", "details", "links", "when"], rows)


def _links_text(goal: Goal) -> str:
    return ", ".join(
        f"#{link.memory_id} {link.note}".strip() if link.memory_id else link.note
        for link in goal.links
    )


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@user_command
def done(options: CliOptions, goal_id: int) -> None:
    """Mark a goal as done."""
    _set_status(options, goal_id, "done")


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@click.argument("to", type=_STATUSES)
@user_command
def status(options: CliOptions, goal_id: int, to: str) -> None:
    """Set the status of a goal."""
    _set_status(options, goal_id, to)


def _set_status(options: CliOptions, goal_id: int, to: str) -> None:
    changed: Changed = run_with_client(
        options, lambda client: client.goal_update_status(goal_id, to)
    )
    screen = Screen.for_options(options)
    if not screen.print_if_json(changed.raw):
        screen.line(f"✓ goal #{goal_id} is {to}", style="green")


@goals.command()
@click.argument("goal_id", type=click.IntRange(1))
@click.option("--memory", "memory_id", type=click.IntRange(1), help="A memory's id.")
@click.option("--note", help="A note.")
@user_command
def link(options: CliOptions, goal_id: int, memory_id: int | None, note: str | None) -> None:
    """Link a memory or a note to a goal."""
    if memory_id is None and note is None:
        raise click.UsageError("Give --memory, --note or both.")
    linked = run_with_client(options, lambda client: client.goal_link(goal_id, memory_id, note))
    screen = Screen.for_options(options)
    if not screen.print_if_json(linked.raw):
        screen.line(f"✓ linked to goal #{goal_id}", style="green")


COMMANDS = {"goals": goals}
