"""Options shared by all commands: hub address, key, user, persona, output format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CliOptions:
    """The shared options of a command line; a later option overrides an earlier one."""

    url: str = ""  # empty: the hub of this machine's settings, or none at all
    key: str = ""
    user: str = "local"
    persona: str = "default"
    as_json: bool = False


def _store_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Store an option in the context, if it was given."""
    known = ctx.find_object(CliOptions) or CliOptions()
    if value:
        assert param.name is not None
        known = replace(known, **{param.name: value})
    ctx.obj = known


def _shared_option(
    *names: str, envvar: str | None = None, **attributes: Any
) -> Callable[[Command], Command]:
    return click.option(
        *names,
        envvar=envvar,
        callback=_store_option,
        expose_value=False,
        is_eager=True,
        show_envvar=bool(envvar),
        **attributes,
    )


def shared_options(*, environment: bool = False) -> Callable[[Command], Command]:
    """Add the shared options; the outermost group also reads them from the environment."""

    def variable(name: str) -> str | None:
        return f"PLASTIC_MEMORIES_{name}" if environment else None

    options = [
        _shared_option("--url", envvar=variable("URL"), help="Address of the hub.", metavar="URL"),
        _shared_option("--key", envvar=variable("API_KEY"), help="API key.", metavar="KEY"),
        _shared_option(
            "--user", envvar=variable("USER"), help="User, for app keys.", metavar="USER"
        ),
        _shared_option("--persona", envvar=variable("PERSONA"), help="Persona.", metavar="PERSONA"),
        json_option,
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def is_given(name: str) -> bool:
    """Return whether a shared option stands on the command line, early or late."""
    context: click.Context | None = click.get_current_context()
    while context is not None:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            return True
        context = context.parent
    return False


def json_option(command: Command) -> Command:
    """Add `--json`: one JSON document on standard output and nothing else there."""
    return _shared_option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def user_command(command: Command) -> Command:
    """Make a command that talks to a hub: add the shared options, pass `CliOptions` first."""
    return shared_options()(click.pass_obj(command))  # type: ignore[return-value]


def local_command(command: Command) -> Command:
    """Make a command about this installation: add `--json`, pass `CliOptions` first."""
    return json_option(click.pass_obj(command))  # type: ignore[return-value]
