"""What a person is told who mistyped a command."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

Run = Callable[..., Result]


def test_a_mistyped_command_names_the_nearest(run: Run) -> None:
    result = run("rember", "tea")

    assert result.exit_code == 2
    assert "No such command 'rember'. Did you mean remember?" in result.output


def test_a_word_that_is_near_nothing_gets_no_guess(run: Run) -> None:
    result = run("xyzzy")

    assert result.exit_code == 2
    assert "No such command 'xyzzy'." in result.output
    assert "Did you mean" not in result.output
