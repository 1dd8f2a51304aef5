"""JSON lines, to a rotating file: ids yes, memory text and keys never."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

_MAX_BYTES = 10 * 1024 * 1024
_BACKUPS = 5
_LINE_BYTES = 320  # what a line takes on average: near enough to know when to turn the page
# Made once: with options of its own, json.dumps builds an encoder for every line.
_ENCODE = json.JSONEncoder(ensure_ascii=False, default=str).encode
# What every line of one request carries.
request_fields: ContextVar[dict[str, Any]] = ContextVar("request_fields", default={})  # noqa: B039 - never changed in place


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "event": record.msg if isinstance(record.msg, str) else str(record.msg),
            "logger": record.name,
            "msg": record.getMessage(),
            **request_fields.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["err"] = self.formatException(record.exc_info)
        return _ENCODE(line)


class _SizedFile(RotatingFileHandler):
    """A rotating file that keeps its own count instead of asking the disk before every line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
        self._written = path.stat().st_size

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the base's name
        self._written += _LINE_BYTES
        return self._written >= self.maxBytes

    def doRollover(self) -> None:  # noqa: N802 - the base's name
        super().doRollover()
        self._written = 0


def to_file(path: Path, level: str) -> logging.Handler:
    """Send this program's log lines to a rotating file; return the handler, to be closed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _SizedFile(path)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("plastic_memories")
    logger.setLevel(level)
    logger.addHandler(handler)
    logger.propagate = False
    return handler


def stop(handler: logging.Handler) -> None:
    logging.getLogger("plastic_memories").removeHandler(handler)
    handler.close()
