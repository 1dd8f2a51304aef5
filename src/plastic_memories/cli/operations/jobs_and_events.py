"""`plastic-memories jobs` and `events`"""

from __future__ import annotations

import click

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import Screen, local_time_text, one_line
from plastic_memories.model.job import JobStatus
from plastic_memories_client import Job, MemoryItem

_STATUSES = click.Choice([status.value for status in JobStatus])


@click.group()
def jobs() -> None:
    """Manage the jobs that turn conversations into memories."""


@jobs.command(name="list")
@click.option("--status", type=_STATUSES, help="Only those with this status.")
@user_command
def list_jobs(options: CliOptions, status: str | None) -> None:
    """List the user's jobs, newest first."""
    found: list[Job] = run_with_client(options, lambda client: client.jobs(status))
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [job.model_dump(mode="json") for job in found]}):
        return
    if not found:
        screen.line("No jobs.", style="dim")
        return
    rows = [
        [job.task_id, job.status, job.task_type, job.trigger, job.retry_count, job.error_message,
         local_time_text(job.created_at)]
        for job in found
    ]  # fmt: skip
    screen.table(["#", "status", "task", "trigger", "retries", "error", "when"], rows)


@jobs.command()
@click.option("--session", "session_id", help="One session; by default all with pending messages.")
@user_command
def run(options: CliOptions, session_id: str | None) -> None:
    """Digest the pending messages of the persona now."""
    job: Job = run_with_client(options, lambda client: client.jobs_run(session_id, wait=True))
    screen = Screen.for_options(options)
    if not screen.print_if_json(job.model_dump(mode="json")):
        style = "green" if job.status == JobStatus.COMPLETED else "yellow"
        screen.line(f"job #{job.task_id} is {job.status} {job.error_message}".strip(), style=style)


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), required=False)
@user_command
def replay(options: CliOptions, job_id: int | None) -> None:
    """Retry dead jobs: one, or all."""
    wanted = None if job_id else "dead"
    done = run_with_client(options, lambda client: client.jobs_replay(job_id, status=wanted))
    screen = Screen.for_options(options)
    if not screen.print_if_json(done.raw):
        screen.line(f"✓ {done.raw.get('replayed', 0)} will be retried", style="green")


@click.command()
@click.option("--days", type=click.IntRange(0, 3660), default=30, show_default=True)
@user_command
def events(options: CliOptions, days: int) -> None:
    """Show upcoming birthdays, plans and other dates."""
    found: list[MemoryItem] = run_with_client(options, lambda client: client.upcoming_events(days))
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [event.model_dump(mode="json") for event in found]}):
        return
    if not found:
        screen.line(f"Nothing in the next {days} days.", style="dim")
        return
    rows = [
        [item.get("next_date"), item.get("days_away"), one_line(str(item.get("content")))]
        for item in (event.model_dump() for event in found)
    ]
    screen.table(["date", "in days", "what"], rows)


COMMANDS = {"jobs": jobs, "events": events}
