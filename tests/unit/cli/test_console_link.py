"""`plastic-memories console`: a link that signs in once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]


def test_a_link_is_made_for_the_key_of_this_machine(run: Run, parsed: Parsed) -> None:
    run("remember", "叫我小林")

    made = parsed(run("console", "--no-open", "--json"))

    assert made["url"].startswith("http://127.0.0.1:1/console#link=pml_")
    assert made["expires_in_s"] == 900


def test_without_any_key_there_is_no_link(run: Run) -> None:
    answer = run("console", "--no-open")

    assert answer.exit_code == 1
    assert "no_key" in answer.output


def test_a_phone_cannot_reach_a_hub_that_listens_here_only(run: Run) -> None:
    run("remember", "叫我小林")

    answer = run("console", "--lan")

    assert answer.exit_code == 1
    assert "PLASTIC_MEMORIES_HOST=0.0.0.0" in answer.output


def test_in_a_network_the_link_comes_as_a_code_to_scan(run: Run) -> None:
    run("remember", "叫我小林")

    answer = run("console", "--lan", PLASTIC_MEMORIES_HOST="0.0.0.0")

    assert answer.exit_code == 0, answer.output
    assert "█" in answer.output or "▀" in answer.output
    assert "/console#link=pml_" in answer.output


def test_the_link_is_for_the_hub_that_was_named(run: Run, parsed: Parsed) -> None:
    run("remember", "叫我小林")

    made = parsed(run("--url", "http://127.0.0.1:8790", "console", "--no-open", "--json"))

    assert made["url"].startswith("http://127.0.0.1:8790/console#link=")
