"""`plastic-memories persona`"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markdown import Markdown

from plastic_memories.cli.command_options import CliOptions, user_command
from plastic_memories.cli.hub_connection import run_with_client
from plastic_memories.cli.output import (
    Screen,
    counts_text,
    local_time_text,
    without_control_characters,
)


@click.group()
def persona() -> None:
    """Manage personas: the characters that remember."""


@persona.command()
@click.argument("persona_id")
@click.option("--name", help="Display name.")
@click.option("--description", help="A description in one sentence.")
@user_command
def create(options: CliOptions, persona_id: str, name: str | None, description: str | None) -> None:
    """Create a persona, or change the given fields."""
    created = run_with_client(
        options, lambda client: client.persona_create(persona_id, name, description)
    )
    screen = Screen.for_options(options)
    if not screen.print_if_json(created.raw):
        screen.line(f"✓ {persona_id} {'created' if created.created else 'changed'}", style="green")


@persona.command()
@click.argument("template_path", metavar="TEMPLATE")
@click.argument("persona_id", required=False)
@click.option("--overwrite", is_flag=True, help="Replace existing values.")
@user_command
def template(
    options: CliOptions, template_path: str, persona_id: str | None, overwrite: bool
) -> None:
    """Apply TEMPLATE to a persona, by default the one of --persona."""
    applied = run_with_client(
        options,
        lambda client: client.create_from_template(
            template_path, persona_id=persona_id, allow_overwrite=overwrite
        ),
    )
    screen = Screen.for_options(options)
    if screen.print_if_json(applied.raw):
        return
    screen.line(f"✓ {applied.persona_id} created from {applied.template_path}", style="green")
    for how in ("applied", "overwritten", "skipped"):
        for name in applied.raw.get(how) or ():
            screen.line(f"  {how:<12} {name}")
    if applied.raw.get("skipped"):
        screen.line("  --overwrite replaces what was skipped.", style="dim")


@persona.command()
@user_command
def templates(options: CliOptions) -> None:
    """List the templates of the hub."""
    known = run_with_client(options, lambda client: client.capabilities())
    names = known.raw.get("templates") or []
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": names}):
        return
    for name in names:
        screen.line(name)
    if names:
        screen.line(f"Use one with: plastic-memories persona template {names[0]}", style="dim")
    else:
        screen.line("The hub's template folder is empty.", style="dim")


@persona.command(name="import-card")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("persona_id", required=False)
@click.option("--overwrite", is_flag=True, help="Replace existing values.")
@click.option("--memories", is_flag=True, help="Import bundled memories; only for your own cards.")
@user_command
def import_card(
    options: CliOptions, file: Path, persona_id: str | None, overwrite: bool, memories: bool
) -> None:
    """Create a persona from a character card: PNG or JSON, V1 to V3."""
    card = run_with_client(
        options,
        lambda client: client.import_card(
            file, persona_id=persona_id, allow_overwrite=overwrite, memories=memories
        ),
    )
    screen = Screen.for_options(options)
    if screen.print_if_json(card.raw):
        return
    screen.line(f"✓ {card.persona_id} created from {card.name} ({card.spec})", style="green")
    for how in ("applied", "overwritten", "skipped"):
        screen.line(f"  {how:<11} {len(getattr(card, how) or [])}")
    bundled = card.memories.get("bundled") or 0
    if bundled and not memories:
        screen.line(f"  {bundled} bundled memories were left out: --memories", style="dim")
    elif bundled:
        screen.line(f"  memories    {counts_text(card.memories.get('counts') or {})}")


@persona.command(name="export-card")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("persona_id", required=False)
@click.option(
    "--memories", is_flag=True, help="Include all its memories: for yourself, not to share."
)
@user_command
def export_card(options: CliOptions, file: Path, persona_id: str | None, memories: bool) -> None:
    """Write a persona to FILE as a character card: .png or .json."""
    kind = file.suffix.lower().lstrip(".")
    if kind not in ("png", "json"):
        raise click.UsageError("The file must end in .png or .json.")
    content = run_with_client(
        options,
        lambda client: client.export_card(
            persona_id,
            format="png" if kind == "png" else "json",
            memories=memories,
        ),
    )
    file.write_bytes(content)
    screen = Screen.for_options(options)
    if not screen.print_if_json({"file": str(file), "bytes": len(content), "memories": memories}):
        screen.line(f"✓ {file} ({len(content)} bytes)", style="green")


@persona.command(name="list")
@user_command
def list_personas(options: CliOptions) -> None:
    """List the user's personas."""
    found = run_with_client(options, lambda client: client.persona_list())
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [one.model_dump(mode="json") for one in found]}):
        return
    if not found:
        screen.line("No personas yet: one is created when it is first named.", style="dim")
        return
    rows = [
        [one.persona_id, one.display_name, one.description, local_time_text(one.updated_at)]
        for one in found
    ]
    screen.table(["persona", "name", "description", "when"], rows)


@persona.command()
@click.argument("persona_id", required=False)
@user_command
def profile(options: CliOptions, persona_id: str | None) -> None:
    """Show a persona and what it knows about the user."""
    found = run_with_client(options, lambda client: client.persona_profile(persona_id))
    screen = Screen.for_options(options)
    if screen.print_if_json(found.raw):
        return
    text = without_control_characters(found.profile_markdown)
    if not text:
        screen.line(f"{found.persona_id} has no profile yet.", style="dim")
    elif screen.console.is_terminal:
        screen.console.print(Markdown(text))
    else:
        screen.line(text)


@persona.command()
@click.argument("persona_id", required=False)
@user_command
def slots(options: CliOptions, persona_id: str | None) -> None:
    """Show a persona's confirmed identity."""
    found = run_with_client(options, lambda client: client.slots(persona_id))
    screen = Screen.for_options(options)
    if screen.print_if_json({"items": [slot.model_dump(mode="json") for slot in found]}):
        return
    if not found:
        screen.line("No slot is filled yet.", style="dim")
        return
    rows = [
        [
            slot.slot_name,
            slot.value
            if isinstance(slot.value, str)
            else json.dumps(slot.value, ensure_ascii=False),
            f"#{slot.provenance.get('active_memory_id', '')}",
            local_time_text(slot.updated_at),
        ]
        for slot in found
    ]
    screen.table(["slot", "value", "memory", "when"], rows)


@persona.command()
@click.argument("persona_id")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@user_command
def delete(options: CliOptions, persona_id: str, yes: bool) -> None:
    """Erase a persona and everything it remembers."""
    if not yes:
        if options.as_json:
            raise click.UsageError("--json cannot ask for confirmation: give --yes.")
        click.confirm(f"Erase {persona_id} and all it remembers, for good?", abort=True)
    gone = run_with_client(options, lambda client: client.persona_delete(persona_id))
    screen = Screen.for_options(options)
    if not screen.print_if_json(gone.raw):
        receipt = gone.raw.get("receipt") or {}
        screen.line(f"✓ {persona_id} is erased", style="green")
        screen.line(f"  erased     {counts_text(receipt.get('erased') or {})}")
        screen.line(f"  remaining  {counts_text(receipt.get('remaining') or {})}")


COMMANDS = {"persona": persona}
