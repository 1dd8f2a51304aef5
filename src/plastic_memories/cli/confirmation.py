"""Questions to the person at the keyboard, from inside a running event loop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


def prompt(text: str, **options: Any) -> Any:
    """Ask for a line of text; Ctrl-C ends the command at once."""
    with _immediate_interrupt():
        return click.prompt(text, **options)


def confirm_or_abort(text: str) -> None:
    """Ask for a yes; anything else, and Ctrl-C, ends the command."""
    with _immediate_interrupt():
        click.confirm(text, abort=True)


@contextmanager
def _immediate_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise while we wait for a line.

    An event loop only notes the first Ctrl-C, to cancel its task at the next turn. While the
    prompt blocks the loop there is no next turn.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
