"""Print output: lines and tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from plastic_memories.cli.command_options import CliOptions
from plastic_memories.cli.language import tr

STATUS_STYLE = {
    "active": "green", "candidate": "yellow", "revoked": "dim", "expired": "dim",
    "done": "green", "paused": "yellow", "dropped": "dim", "ok": "green", "warn": "yellow",
    "fail": "bold red",
}  # fmt: skip
_DAY = 86_400
_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Screen:
    console: Console
    as_json: bool

    @classmethod
    def for_options(cls, options: CliOptions) -> Screen:
        return cls(Console(highlight=False, markup=False, emoji=False), options.as_json)

    def print_if_json(self, answer: Any) -> bool:
        """Print the data as JSON if --json was given; return whether it was."""
        if self.as_json:
            click.echo(json.dumps(answer, ensure_ascii=False, indent=2, default=str))
        return self.as_json

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line unwrapped, however narrow the window: it may be copied."""
        self.console.print(Text(without_control_characters(text), style=style), soft_wrap=True)

    def text(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print text wrapped to the window."""
        if not text:
            self.line()
            return
        words = Text(without_control_characters(text), style=style)
        self.console.print(Padding(words, (0, 0, 0, indent), expand=False))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table; a cell with a known status is coloured."""
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for name in columns:
            is_number = name in ("#", "score")
            table.add_column(
                tr(name),
                justify="right" if is_number else "left",
                no_wrap=is_number or name in ("status", "when"),
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(_cell(value) for value in row))
        self.console.print(table)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[str, int, int], None]]:
        """Show a progress bar on standard error; hidden if that is not a terminal."""
        columns = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        )  # fmt: skip
        console = Console(stderr=True)
        with Progress(
            *columns, console=console, transient=True, disable=not is_interactive()
        ) as bar:
            task = bar.add_task(what, total=None)

            def report(now: str, done: int, total: int) -> None:
                bar.update(task, description=now or what, completed=done, total=total or None)

            yield report


def is_interactive() -> bool:
    """Return whether a person is likely to see standard error."""
    return sys.stderr.isatty()


def without_control_characters(text: str) -> str:
    r"""Return text without control characters: a memory must not control the terminal.

    >>> without_control_characters("a\x1b[31mb\nc")
    'a�[31mb\nc'
    """
    return "".join(
        letter if letter in "\n\t" or (letter >= " " and not "\x7f" <= letter <= "\x9f") else "�"
        for letter in text
    )


def one_line(text: str, limit: int = 0) -> str:
    r"""Return text on one line, cut at `limit` characters if there is a limit.

    >>> one_line("a\n b", 0), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    flat = " ".join(without_control_characters(text).split())
    return flat if not limit or len(flat) <= limit else flat[: limit - 1] + "…"


def local_time_text(epoch_s: float | None, *, now: float | None = None) -> str:
    """Return a time as local text, in the words people use."""
    if epoch_s is None:
        return ""
    age = (time.time() if now is None else now) - epoch_s
    shape = "%H:%M" if 0 <= age < _DAY / 2 else "%Y-%m-%d"
    return time.strftime(shape, time.localtime(epoch_s))


def size_text(number: int) -> str:
    """Return a number of bytes with its unit.

    >>> size_text(900), size_text(2_500_000)
    ('900 B', '2.5 MB')
    """
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < _THOUSAND or unit == "GB":
            break
        value /= _THOUSAND
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def counts_text(counts: Mapping[str, Any]) -> str:
    """Return counts on one line, without those that are zero.

    >>> counts_text({"memories": 2, "goals": 0})
    'memories 2'
    """
    return ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in counts.items() if n) or "none"


def _cell(value: Any) -> Text:
    text = one_line("" if value is None else str(value))
    return Text(text, style=STATUS_STYLE.get(text, ""))
