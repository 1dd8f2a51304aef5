"""`python -m bench`: run the measurements and print them."""

from __future__ import annotations

import json
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench import speed


@click.command()
@click.option("--full", is_flag=True, help="The large cases too (about 15 minutes).")
@click.option("--json", "as_json", type=click.Path(path_type=Path), help="Write the numbers here.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Keep filled databases here.")
def main(full: bool, as_json: Path | None, scratch: Path | None) -> None:
    """Measure the hub on this machine. Ratios within one run count, absolutes do not."""
    console = Console()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        results: dict[str, Any] = {"speed": speed.run(full, scratch, progress)}
    results["machine"] = {
        "when": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    _show(console, results["speed"])
    if as_json:
        as_json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def _show(console: Console, results: dict[str, Any]) -> None:
    cold = results["cold_start"]
    console.print(f"cold start {cold['seconds']} s, {cold['idle_memory_mb']} MB at rest")
    table = Table(title="durable writes, 32 at a time")
    for column in ("", "per second", "p50 ms", "p99 ms", "grouped is faster"):
        table.add_column(column, justify="right" if column else "left")
    for name, row in results["durable_writes"].items():
        numbers = (str(row[key]) for key in ("per_second", "p50_ms", "p99_ms"))
        table.add_row(name.replace("_", " "), *numbers, f"{row['grouped_is_faster']}×")
    console.print(table)
    append = results["batch_append"]
    console.print(f"append, 100 a request: {append['messages_per_second']:,} messages per second")
    for name in ("recall_one_persona", "recall_many_users"):
        console.print(_recall_table(name.replace("_", " "), results[name]))


def _recall_table(title: str, cases: dict[str, Any]) -> Table:
    table = Table(title=title)
    for column in ("memories", "p50 ms", "p95 ms", "p99 ms", "ratio", ""):
        table.add_column(column, justify="right" if column else "left")
    slowest = max(case["p50_ms"] for case in cases.values())
    for name, case in cases.items():
        numbers = (str(case[key]) for key in ("p50_ms", "p95_ms", "p99_ms"))
        bar = "█" * round(24 * case["p50_ms"] / slowest)
        table.add_row(name, *numbers, f"{case['p50_ratio']}×", bar)
    return table


main()
