"""The queue on disk: a plugin that is reloaded, or an AstrBot that restarts, loses nothing."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .identity import Identity
from .parcel import Parcel

logger = logging.getLogger("astrbot")
_COMPACT_AFTER_LINES = 2000


class OutboxFile:
    """A journal: a line for each parcel, and one for each that has arrived or was dropped.

    A disk that is full or read-only costs only the safety, never the conversation.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines = 0

    def load(self) -> list[Parcel]:
        """Return the parcels that have not arrived, oldest first; unreadable lines are skipped."""
        waiting: dict[str, Parcel] = {}
        for line in self._read_lines():
            if "done" in line:
                waiting.pop(str(line["done"]), None)
                continue
            parcel = _parcel(line)
            if parcel is not None:
                waiting[parcel.number] = parcel
        return list(waiting.values())

    def add(self, parcel: Parcel) -> None:
        self._append(_line(parcel))

    def remove(self, parcel: Parcel, waiting: Iterable[Parcel]) -> None:
        """Note that a parcel has left; `waiting` are the others, for a shorter file."""
        left = list(waiting)
        if not left or self._lines > _COMPACT_AFTER_LINES:
            self._write([_line(one) for one in left])
        else:
            self._append({"done": parcel.number})

    def _read_lines(self) -> list[Mapping[str, Any]]:
        if self._path is None or not self._path.exists():
            return []
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self._tell(error)
            return []
        found = [_parsed(line) for line in text.splitlines()]
        self._lines = len(found)
        return [line for line in found if isinstance(line, Mapping)]

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        try:
            with open(self._path, "a", encoding="utf-8", opener=_private) as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._lines += 1
        except OSError as error:
            self._tell(error)

    def _write(self, lines: list[Mapping[str, Any]]) -> None:
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        try:
            with open(new, "w", encoding="utf-8", opener=_private) as file:
                file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            new.replace(self._path)
            self._lines = len(lines)
        except OSError as error:
            self._tell(error)

    def _tell(self, error: OSError) -> None:
        logger.warning(
            "[plastic_memories] 待发送的消息无法存盘 / cannot store waiting messages: %s",
            error.strerror,
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _line(parcel: Parcel) -> dict[str, Any]:
    return {
        "number": parcel.number,
        "who": asdict(parcel.who),
        "messages": [dict(one) for one in parcel.messages],
        "conversation": parcel.conversation,
    }


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # the last line of a crash
        return None


def _parcel(line: Mapping[str, Any]) -> Parcel | None:
    try:
        return Parcel(
            who=Identity(**line["who"]),
            messages=list(line["messages"]),
            conversation=str(line.get("conversation", "")),
            number=str(line["number"]),
        )
    except (KeyError, TypeError):  # of another version
        return None
