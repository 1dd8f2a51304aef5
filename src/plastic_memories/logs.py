"""JSON lines, to a rotating file: ids yes, memory text and keys never."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from pydantic_core import to_json

_MAX_BYTES = 10 * 1024 * 1024
_BACKUPS = 5
_MOST_LINES = 500
_FLUSH_S = 0.2
# What every line of one request carries.
request_fields: ContextVar[dict[str, Any]] = ContextVar("request_fields", default={})  # noqa: B039 - never changed in place


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        event = record.msg if isinstance(record.msg, str) else str(record.msg)
        line: dict[str, Any] = {
            "ts": _timestamp(record.created),
            "level": record.levelname,
            "event": event,
            "logger": record.name,
            "msg": record.getMessage() if record.args else event,
            **request_fields.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["err"] = self.formatException(record.exc_info)
        return _encode(line)


def _timestamp(at: float) -> str:
    second, thousandths = divmod(int(at * 1000), 1000)
    return f"{_second(second)}.{thousandths:03d}+00:00"


# Written once a second, not a thousand times.
@lru_cache(maxsize=4)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _encode(line: dict[str, Any]) -> str:
    try:
        return to_json(line, fallback=str).decode()
    except ValueError:  # half a character, which UTF-8 cannot hold
        return json.dumps(line, default=str)


class BufferedFile(RotatingFileHandler):
    """A rotating file that is written a few times a second, not once for every line.

    A write lets other threads in, and a server that answers a thousand requests a second would
    spend more time waiting for its turn again than answering. Warnings are written at once.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
        self._lines: list[str] = []
        self._closing = threading.Event()
        self._flusher = threading.Thread(target=self._flush_forever, name="log", daemon=True)
        self._flusher.start()

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))
        if record.levelno >= logging.WARNING or len(self._lines) >= _MOST_LINES:
            self.flush()

    def flush(self) -> None:
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if not lines or self.stream is None:
                return
            if self.maxBytes and self.stream.tell() >= self.maxBytes:
                self.doRollover()
            self.stream.write("\n".join(lines) + "\n")
            self.stream.flush()

    def close(self) -> None:
        self._closing.set()
        self.flush()
        super().close()

    def _flush_forever(self) -> None:
        while not self._closing.wait(_FLUSH_S):
            self.flush()


def to_file(path: Path, level: str) -> logging.Handler:
    """Send this program's log lines to a rotating file; return the handler, to be closed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = BufferedFile(path)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("plastic_memories")
    logger.setLevel(level)
    logger.addHandler(handler)
    logger.propagate = False
    return handler


def stop(handler: logging.Handler) -> None:
    logging.getLogger("plastic_memories").removeHandler(handler)
    handler.close()
