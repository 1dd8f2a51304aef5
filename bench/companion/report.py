"""Run CompanionBench for the command line and print its table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.companion.hub import running_companion
from bench.companion.model_server import serving
from bench.companion.people import Person, UnreadablePeople, read_people
from bench.companion.run import measure

# A small model on one core reads a long talk for minutes.
_MODEL_TIMEOUT_S = 900
_PEOPLE = Path(__file__).parent / "people_zh", Path(__file__).parent / "people_en"


def run(
    folders: tuple[Path, ...],
    console: Console,
    half: str,
    others: int,
    misses: bool,
    **variant: Any,
) -> dict[str, Any]:
    """Measure the hub on the people of these folders, by default the published ones."""
    people = _people(folders or _PEOPLE, half)
    with _hub_settings(**variant) as settings, running_companion(**settings) as hub:
        results = measure(hub, people, others, lambda text: console.print(text, style="dim"))
    _show(console, results, misses=misses)
    return results


@contextmanager
def _hub_settings(no_embedder: bool, llm: str, gguf: Path | None) -> Iterator[dict[str, str]]:
    """Return the settings of the measured hub; serve its model meanwhile."""
    settings = {"EMBEDDER": "none"} if no_embedder else {}
    with serving(gguf) if gguf else nullcontext(llm) as address:
        if address:
            settings |= {"JUDGE": "llm", "LLM_BASE_URL": address, "LLM_MODEL": "measured"}
            settings |= {"LLM_TIMEOUT_S": str(_MODEL_TIMEOUT_S)}
        yield settings


def _people(folders: tuple[Path, ...], half: str) -> list[Person]:
    try:
        people = [person for folder in folders for person in read_people(folder, half)]
    except UnreadablePeople as error:
        raise click.ClickException(str(error)) from error
    if not people:
        raise click.ClickException("There are no such people.")
    return people


def _show(console: Console, results: dict[str, Any], *, misses: bool) -> None:
    table = Table("score", "hits", "of", "share")
    for name, share in results["shares"].items():
        table.add_row(name, str(share["hits"]), str(share["of"]), str(share["share"]))
    console.print(table)
    console.print(f"Tokens of the blocks, median: {results['median_tokens']}")
    for name, share in results["shares"].items() if misses else ():
        for miss in share["misses"]:
            console.print(f"{name}: {miss}", soft_wrap=True, markup=False)
