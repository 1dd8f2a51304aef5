"""Run CompanionBench for the command line and print its table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.companion.companion import Companion
from bench.companion.hub import running_companion
from bench.companion.model_server import serving
from bench.companion.other_systems import running_system
from bench.companion.people import Person, UnreadablePeople, read_people
from bench.companion.run import measure
from bench.companion.situations import Situation, read_situations
from bench.quality.environments import Environments

# A small model on one core reads a long talk for minutes.
_MODEL_TIMEOUT_S = 900
HUB = "hub"
_PEOPLE = tuple(Path(__file__).parent / "people" / language for language in ("zh", "en"))


@dataclass(frozen=True)
class RunOptions:
    """The options of the command."""

    half: str
    others: int
    misses: bool
    only: str
    cache: Path
    no_embedder: bool
    llm: str
    gguf: Path | None
    no_situations: bool


def run(
    folders: tuple[Path, ...],
    console: Console,
    options: RunOptions,
) -> dict[str, Any]:
    """Measure systems on the people of these folders, by default the published ones."""
    folders = folders or _PEOPLE
    people = _people(folders, options.half)
    situations = [] if options.no_situations else _situations(folders, people)
    results = {}
    for name in options.only.split(",") if options.only else [HUB]:
        console.print(f"{name} ...", style="dim")
        with _started(name, options) as companion:
            results[name] = measure(companion, people, situations, options.others)
    _show(console, results, misses=options.misses)
    return results


@contextmanager
def _started(name: str, options: RunOptions) -> Iterator[Companion]:
    if name != HUB:
        with running_system(name, Environments(options.cache)) as system:
            yield system
        return
    with _hub_settings(options) as settings, running_companion(**settings) as hub:
        yield hub


@contextmanager
def _hub_settings(options: RunOptions) -> Iterator[dict[str, str]]:
    """Return the settings of the measured hub; serve its model meanwhile."""
    settings = {"EMBEDDER": "none"} if options.no_embedder else {}
    with serving(options.gguf) if options.gguf else nullcontext(options.llm) as address:
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


def _situations(folders: tuple[Path, ...], people: list[Person]) -> list[Situation]:
    files = [folder for folder in folders if (folder / "extras.jsonl").exists()]
    return [one for folder in files for one in read_situations(folder, people)]


def _show(console: Console, results: dict[str, Any], *, misses: bool) -> None:
    table = Table("score", *results)
    scores = dict.fromkeys(name for one in results.values() for name in one["shares"])
    for score in scores:
        table.add_row(score, *(_cell(one["shares"].get(score)) for one in results.values()))
    table.add_row("tokens, median", *(str(one["median_tokens"]) for one in results.values()))
    console.print(table)
    for name, one in results.items() if misses else ():
        for score, share in one["shares"].items():
            for miss in share["misses"]:
                console.print(f"{name} {score}: {miss}", soft_wrap=True, markup=False)


def _cell(share: dict[str, Any] | None) -> str:
    return f"{share['share']} ({share['hits']}/{share['of']})" if share else ""
