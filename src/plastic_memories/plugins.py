"""Finds implementations by entry point and name; built-ins use the same door as strangers."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeAlias

from plastic_memories.errors import InvalidSetting

Factory: TypeAlias = Callable[[Any], Any]

# The port, and the environment variable that chooses its implementation.
PORTS = {
    "storage": "BACKEND",
    "recall": "RECALL",
    "judge": "JUDGE",
    "profile": "PROFILE",
    "sensitive": "SENSITIVE",
    "events": "EVENTS",
    "embedder": "EMBEDDER",
    "archive": "ARCHIVE",
}

# Parts that a chosen implementation may bring along under its own name.
COMPANIONS = {"extractor": "JUDGE"}


def available_plugins(port: str) -> Mapping[str, EntryPoint]:
    """Return the installed implementations of a port, by name."""
    return _entry_points(port, tuple(sys.path))


@lru_cache(maxsize=len(PORTS) + len(COMPANIONS))
def _entry_points(port: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    found = _installed_entry_points(path).select(group=f"plastic_memories.{port}")
    return {entry.name: entry for entry in found}


@lru_cache(maxsize=1)
def _installed_entry_points(_path: tuple[str, ...]) -> Any:
    """Return what is installed there; looking through every package takes longer than starting.

    Python 3.11 and 3.12 name the kind of this differently; both can `select`.
    """
    return entry_points()


def plugin_factory(port: str, name: str) -> Factory:
    """Return the constructor of an implementation; raise `InvalidSetting` for an unknown name."""
    found = available_plugins(port)
    if name not in found:
        names = ", ".join(sorted(found)) or "none is installed"
        similar = difflib.get_close_matches(name, sorted(found), n=1, cutoff=0)
        nearest = f"; the nearest is {similar[0]!r}" if similar else ""
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_{PORTS[port]}={name!r} is unknown; available: {names}{nearest}."
        )
    return _load_factory(found[name], PORTS[port])


def companion_factory(port: str, name: str) -> Factory | None:
    """Return the constructor of what goes with an implementation, or None if nothing does."""
    found = available_plugins(port).get(name)
    return _load_factory(found, COMPANIONS[port]) if found else None


def _load_factory(entry: EntryPoint, variable: str) -> Factory:
    try:
        loaded: Factory = entry.load()
    except ImportError as error:
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_{variable}={entry.name!r} cannot be loaded: {error}."
        ) from error
    return loaded
