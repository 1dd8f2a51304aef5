"""The speed report in the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

Results = dict[str, Any]


def show(console: Console, results: Results) -> None:
    """Print the results of `speed.run`."""
    cold = results["cold_start"]
    console.print(
        f"cold start {cold['seconds']} s, {cold['idle_memory_mb']} MB at rest without an embedder"
    )
    table = Table(title="durable writes, 32 at a time")
    for column in ("", "per second", "p50 ms", "p99 ms", "grouped is faster"):
        table.add_column(column, justify="right" if column else "left")
    for name, row in results["durable_writes"].items():
        numbers = (str(row[key]) for key in ("per_second", "p50_ms", "p99_ms"))
        table.add_row(name.replace("_", " "), *numbers, f"{row['grouped_is_faster']}×")
    console.print(table)
    append = results["batch_append"]
    console.print(f"append, 100 a request: {append['messages_per_second']:,} messages per second")
    formation = results["formation"]
    console.print(
        f"append with formation: {formation['on']['p50_ms']} ms at p50, "
        f"{formation['on']['p50_ratio']}× of without"
    )
    for name in ("recall_one_persona", "recall_many_users"):
        console.print(_recall_table(name.replace("_", " "), results[name]))
    console.print(_parts_table(results["recall_parts"]))
    beside = results["recall_beside_hostile_texts"]
    console.print(
        f"recall beside another user's hostile texts: {beside['p50_ms']} ms at p50, "
        f"largest delay {beside['largest_delay_ms']} ms"
    )


def _recall_table(title: str, cases: dict[str, Any]) -> Table:
    table = Table(title=title)
    for column in ("memories", "p50 ms", "p95 ms", "p99 ms", "p99 / p50", "ratio", ""):
        table.add_column(column, justify="right" if column else "left")
    slowest = max(case["p50_ms"] for case in cases.values())
    for name, case in cases.items():
        numbers = (str(case[key]) for key in ("p50_ms", "p95_ms", "p99_ms"))
        bar = "█" * round(24 * case["p50_ms"] / slowest)
        spread = f"{case['p99_ms'] / case['p50_ms']:.1f}×"
        table.add_row(name, *numbers, spread, f"{case['p50_ratio']}×", bar)
    return table


def _parts_table(cases: dict[str, Any]) -> Table:
    table = Table(title="recall of new questions beside its bare parts, p50 in ms")
    names = ("memories", "embedding", "text", "vectors", "sum", "recall", "ratio", "asked again")
    for column in names:
        table.add_column(column, justify="right")
    for name, case in cases.items():
        parts = (f"{value:.2f}" for value in case["bare_ms"].values())
        ratio = f"{case['p50_ratio_to_bare']}×"
        table.add_row(name, *parts, f"{case['p50_ms']:.2f}", ratio, f"{case['known_p50_ms']:.2f}")
    return table
