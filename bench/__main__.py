"""`python -m bench`: run the benchmarks and print the results."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench import paths, proxy, speed, speed_report
from bench.quality import report
from bench.quality.conversations import (
    FULL,
    QUICK,
    Conversation,
    Profile,
    UnreadableData,
    read_folder,
    sample,
)
from bench.quality.environments import DEFAULT_CACHE, Environments
from bench.quality.picture import draw
from bench.quality.run import Run, all_names

Results = dict[str, Any]
_DATA = Path(__file__).parent / "data"
_PATH = click.Path(path_type=Path)
# Tables of many systems need room where the output is not a terminal.
_WIDTH = 170


def _options(*names: str) -> Callable[[Any], Any]:
    """Add some of the shared options below to a command."""

    def add(command: Any) -> Any:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add


_OPTIONS = {
    "full": click.option("--full/--quick", help="Everything, or a fixed sample (the default)."),
    "json": click.option("--json", "as_json", type=_PATH, help="Write the numbers here."),
    "png": click.option("--png", type=_PATH, help="Draw the comparison with the peers here."),
    "scratch": click.option("--scratch", type=_PATH, help="Keep filled databases here."),
    "data": click.option(
        "--data",
        type=_PATH,
        default=_DATA,
        envvar="BENCH_DATA",
        show_default=True,
        help="Folder with labelled conversations (*.jsonl, *.jsonl.gz).",
    ),
    "cache": click.option(
        "--cache",
        type=_PATH,
        default=DEFAULT_CACHE,
        show_default=True,
        help="Keep the peers' environments and vectors here.",
    ),
    "only": click.option("--only", default="", help=f"Of these: {', '.join(all_names())}."),
    "sets": click.option("--sets", default="", help="Only these data sets, by name."),
}


@click.group(invoke_without_command=True)
@_options("full", "json", "png", "scratch", "data", "cache")
@click.pass_context
def main(context: click.Context, /, full: bool, scratch: Path | None, **rest: Any) -> None:
    """Benchmark the hub on this machine: its speed, and its recall compared with other systems.

    Only ratios within one run are meaningful. Without a command every benchmark runs.
    """
    if context.invoked_subcommand is None:
        results = {"speed": _speed(full, scratch), **_quality(full, rest)}
        _save(results, rest["as_json"])
        _draw(results, rest["png"], rest["cache"])


@main.command("speed")
@_options("full", "json", "scratch")
def speed_command(full: bool, as_json: Path | None, scratch: Path | None) -> None:
    """Benchmark the hub alone: startup, writes, recall in databases of several sizes."""
    _save({"speed": _speed(full, scratch)}, as_json)


@main.command("proxy")
@_options("json", "scratch")
@click.option("--number", default=200, show_default=True, help="Calls of each kind.")
def proxy_command(as_json: Path | None, scratch: Path | None, number: int) -> None:
    """Benchmark the latency that the proxy adds, compared with calling the upstream directly."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        results = proxy.run(number, scratch, progress)
    proxy.show(_console(), results)
    _save({"proxy": results}, as_json)


@main.command("paths")
@_options("json")
def paths_command(as_json: Path | None) -> None:
    """Count the modules that one write and one recall enter, and their calls."""
    results = paths.measure()
    table = Table("request", "modules", "calls in the package", "all calls")
    for kind, counts in results.items():
        table.add_row(kind, *(str(count) for count in counts.values()))
    _console().print(table)
    _save({"paths": results}, as_json)


@main.command("quality")
@_options("full", "json", "png", "data", "cache", "only", "sets")
def quality_command(full: bool, as_json: Path | None, png: Path | None, **rest: Any) -> None:
    """Benchmark recall against other systems on labelled conversations."""
    results = _quality(full, rest)
    if not results:
        raise SystemExit(1)
    _save(results, as_json)
    _draw(results, png, rest["cache"])


@main.command("tune")
@_options("data", "cache", "sets")
@click.option(
    "--rounds",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="0 only measures what is there.",
)
@click.option("--questions", type=click.IntRange(1), help="At most this many of each data set.")
def tune_command(data: Path, cache: Path, sets: str, rounds: int, questions: int | None) -> None:
    """Fit the weights of hybrid recall (rules/ranking/hybrid_weights.py), in this process."""
    from bench import tune

    console = _console()
    found = _conversations(data, sets, console)
    if not found:
        raise SystemExit(1)
    some = sample(found, Profile("tune", questions=questions))
    prepared = tune.cases(some, tune.Vectors(cache))
    weights = tune.tune(prepared, rounds, console)
    console.print(weights)


@main.command("companion")
@_options("json", "cache")
@click.option("--only", default="", help="Of these: hub, raw-history, fts5, mem0-apart, txtai, …")
@click.option("--people", type=_PATH, multiple=True, help="Folder with people; may be repeated.")
@click.option("--half", default="", help="Only the people of this half: dev or test.")
@click.option("--others", default=1500, show_default=True, help="Lines of small talk in between.")
@click.option("--no-embedder", is_flag=True, help="Measure the hub without an embedder.")
@click.option("--no-situations", is_flag=True, help="No forgetting, groups and branches.")
@click.option("--llm", default="", help="Address of a model that reads the talk too.")
@click.option("--gguf", type=_PATH, help="Serve this model file (needs xllamacpp) and use it.")
@click.option("--misses", is_flag=True, help="Print every miss.")
def companion_command(as_json: Path | None, people: tuple[Path, ...], **options: Any) -> None:
    """Benchmark what is learned from messy talk, and what of it is in later prompts."""
    from bench.companion import report as companion_report

    results = companion_report.run(people, _console(), companion_report.RunOptions(**options))
    _save({"companion": results}, as_json)


@main.command("talk")
@_options("full", "json", "data", "sets", "scratch")
def talk_command(
    full: bool, as_json: Path | None, data: Path, sets: str, scratch: Path | None
) -> None:
    """Benchmark how often the line that answers a question is quoted from the talk."""
    from bench.companion import talk

    console = _console()
    found = sample(_conversations(data, sets, console), FULL if full else QUICK)
    if found:
        _save({"talk": talk.run(found, scratch, console)}, as_json)


def _speed(full: bool, scratch: Path | None) -> Results:
    with Progress(console=Console(stderr=True), transient=True) as progress:
        results = speed.run(full, scratch, progress)
    speed_report.show(_console(), results)
    return results


def _quality(full: bool, choice: Results) -> Results:
    console = _console()
    names = _chosen(choice.get("only", "")) or all_names()
    if unknown := set(names) - set(all_names()):
        raise click.UsageError(f"Unknown: {', '.join(sorted(unknown))}.")
    found = _conversations(choice["data"], choice.get("sets", ""), console)
    if not found:
        return {}
    profile = FULL if full else QUICK
    with Progress(console=Console(stderr=True), transient=True) as progress:
        run = Run(sample(found, profile), Environments(choice["cache"]), progress)
        results = run.measure_all(names)
    report.show(console, results, every_score=full)
    return {"quality": {"profile": profile.name, **results}}


def _conversations(data: Path, sets: str, console: Console) -> list[Conversation]:
    """Load the labelled conversations; print a note if there are none, and fail on invalid ones."""
    try:
        found = read_folder(data, frozenset(_chosen(sets)))
    except UnreadableData as error:
        raise click.ClickException(str(error)) from error
    if not found:
        console.print(
            f"No labelled conversations in {data}: recall is not measured. Put files "
            "there (bench/README.md says in which format), or name a folder with --data.",
            soft_wrap=True,
        )
    return found


def _chosen(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _save(results: Results, as_json: Path | None) -> None:
    results["machine"] = {
        "when": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    if as_json:
        as_json.parent.mkdir(parents=True, exist_ok=True)
        as_json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def _draw(results: Results, png: Path | None, cache: Path) -> None:
    if png and "quality" in results:
        png.parent.mkdir(parents=True, exist_ok=True)
        if reason := draw(results["quality"], png, Environments(cache)):
            Console(stderr=True).print(f"No picture: {reason}")


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


if __name__ == "__main__":
    main()
