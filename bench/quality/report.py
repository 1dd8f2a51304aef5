"""The quality report in the terminal: tables with ratios, and bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from bench.quality.summary import HUB, peers

Results = dict[str, Any]
_BAR = 40
_PLAIN = "recall@10"


def show(console: Console, results: Results, *, every_score: bool) -> None:
    """Print all results; `every_score` adds a table for each score."""
    ran = {name: row for name, row in results["systems"].items() if "failed" not in row}
    _show_failures(console, results)
    if not ran:
        return
    names = next(iter(ran.values()))["scores"]["mean_of_sets"]
    for score in names if every_score else [_PLAIN]:
        console.print(_by_category(results, ran, score))
    console.print(_by_score(ran))
    console.print(_times(results, ran))
    for line in _embedding(results):
        console.print(line, soft_wrap=True, highlight=False)
    console.print(_bars("recall@10, mean of the data sets", ran, _recall, "{:.3f}"))
    console.print(_bars("ms for a question (p50), embedding apart", ran, _query, "{:.2f}"))
    console.print(_bars("ms to store a memory (p50), embedding apart", ran, _ingest, "{:.3f}"))


def _show_failures(console: Console, results: Results) -> None:
    for name, row in results["systems"].items():
        if "failed" in row:
            console.print(f"[yellow]{name} was not measured: {row['failed']}[/]", highlight=False)
        elif row["skipped"]:
            console.print(f"[yellow]{name} refused {row['skipped']} memories[/]")


def _by_category(results: Results, ran: Results, score: str) -> Table:
    table = Table(title=f"{score} by data set and category")
    _columns(table, ("", "questions", *map(_title, ran), "hub / best peer"))
    for dataset, size in results["sample"].items():
        row = {name: one["scores"]["by_set"][dataset][score] for name, one in ran.items()}
        table.add_row(dataset, str(size["questions"]), *_cells(row), _ratio(row), style="bold")
        categories = {name: one["scores"]["by_category"][dataset] for name, one in ran.items()}
        first = next(iter(categories.values()))
        for category, sizes in first.items() if len(first) > 1 else ():
            cells = {name: one[category][score] for name, one in categories.items()}
            number = str(sizes["questions"])
            table.add_row(f"  {category}", number, *_cells(cells), _ratio(cells), style="dim")
        table.add_section()
    row = {name: one["scores"]["mean_of_sets"][score] for name, one in ran.items()}
    table.add_row("mean of the data sets", "", *_cells(row), _ratio(row), style="bold")
    return table


def _by_score(ran: Results) -> Table:
    table = Table(title="every score, by data set")
    _columns(table, ("", "", *map(_title, ran), "hub / best peer"))
    first = next(iter(ran.values()))["scores"]
    tables = {name: {**one["scores"]["by_set"]} for name, one in ran.items()}
    for name, one in ran.items():
        tables[name]["mean of the data sets"] = one["scores"]["mean_of_sets"]
    for dataset in tables[next(iter(ran))]:
        for place, score in enumerate(first["mean_of_sets"]):
            row = {name: one[dataset][score] for name, one in tables.items()}
            table.add_row("" if place else dataset, score, *_cells(row), _ratio(row))
        table.add_section()
    return table


def _times(results: Results, ran: Results) -> Table:
    table = Table(title="time and memory; times in ms, embedding apart")
    _columns(
        table,
        (
            "",
            "question p50",
            "p95",
            "p99",
            "hub is faster",
            "p50 with embedding",
            "CPU",
            "store one p50",
            "p95",
            "p99",
            "hub is faster",
            "memory MB",
        ),
    )
    ratios = results["ratios"].get("by_peer", {})
    for name, row in ran.items():
        faster = ratios.get(name, {})
        table.add_row(
            _title(name),
            *(f"{value:.2f}" for value in row["question_ms"].values()),
            _times_text(faster.get("question_p50_faster")),
            f"{row['question_with_embedding_ms']['p50']:.2f}",
            f"{row['question_cpu_ms']:.2f}",
            *(f"{value:.3f}" for value in row["ingest_ms_per_memory"].values()),
            _times_text(faster.get("ingest_p50_faster")),
            f"{row['memory_mb']:.0f}",
        )
    return table


def _embedding(results: Results) -> Iterator[str]:
    alone = results["embedder"]
    if "failed" in alone:
        yield f"the shared embedder was not measured: {alone['failed']}"
        return
    memories = sum(size["memories"] for size in results["sample"].values())
    bare = alone["texts_per_second"]
    yield (
        f"the shared embedder alone ({alone['version']}): {bare:,.0f} texts per second in batches, "
        f"{alone['question_ms']['p50']:.2f} ms for a question (p50), {alone['memory_mb']:.0f} MB. "
        "Peers look vectors up: their memory is without it."
    )
    rate = results["systems"].get(HUB, {}).get("texts_per_second")
    if rate:
        yield (
            f"the hub, storing and embedding at once: {rate:,.0f} texts per second, "
            f"{rate / bare:.0%} of that: {memories:,} memories are {alone['texts']:,} texts, "
            "a long one is embedded in passages too"
        )


def _bars(title: str, ran: Results, value: Callable[[Results], float], form: str) -> Group:
    values = {name: value(row) for name, row in ran.items()}
    longest = max(values.values()) or 1
    table = Table.grid(padding=(0, 1))
    for name, number in values.items():
        bar = Text("█" * max(1, round(_BAR * number / longest)), style=_colour(name))
        table.add_row(_title(name), bar, form.format(number))
    return Group(Text(f"\n{title}", style="bold"), table)


def _columns(table: Table, names: tuple[str, ...]) -> None:
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left", overflow="fold")


def _cells(row: dict[str, float]) -> list[str]:
    best = max(row.values())
    return [f"[green]{value:.3f}[/]" if value == best else f"{value:.3f}" for value in row.values()]


def _ratio(row: dict[str, float]) -> str:
    others = peers(row)
    if HUB not in row or not others or not max(others.values()):
        return ""
    return _times_text(row[HUB] / max(others.values()))


def _times_text(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}×"


def _title(name: str) -> str:
    # A space lets a narrow column wrap.
    return name.replace("-", " ")


def _colour(name: str) -> str:
    return "magenta" if name.startswith(HUB) else "bright_black"


def _recall(row: Results) -> float:
    return float(row["scores"]["mean_of_sets"]["recall@10"])


def _query(row: Results) -> float:
    return float(row["question_ms"]["p50"])


def _ingest(row: Results) -> float:
    return float(row["ingest_ms_per_memory"]["p50"])
