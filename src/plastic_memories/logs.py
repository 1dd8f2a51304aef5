"""Log as JSON lines to a rotating file: ids yes, memory text and keys never."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from plastic_memories.runtime.private_files import make_private_folder, open_private_file

_MAX_BYTES = 10 * 1024 * 1024
_BACKUPS = 5
_MAX_BUFFERED_LINES = 500
_FLUSH_S = 0.2
# Fields added to every line of one request.
request_fields: ContextVar[dict[str, Any]] = ContextVar("request_fields", default={})  # noqa: B039 - never changed in place


class JsonLinesFormatter(logging.Formatter):
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


def _timestamp(epoch_s: float) -> str:
    second, thousandths = divmod(int(epoch_s * 1000), 1000)
    return f"{_second_text(second)}.{thousandths:03d}+00:00"


# Cached: formatted once a second, not once per line.
@lru_cache(maxsize=4)
def _second_text(epoch_s: int) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _encode(line: dict[str, Any]) -> str:
    try:
        return to_json(line, fallback=str).decode()
    except ValueError:  # a lone surrogate, which UTF-8 cannot encode
        return json.dumps(line, default=str)


class BufferedFileHandler(RotatingFileHandler):
    """A rotating file that is written a few times a second, not once per line.

    A write releases the interpreter lock, and a server with a thousand requests a second would
    spend more time waiting for it again than answering. Warnings are written at once.

    It never raises: a full disk must not disturb the code that logs. Lines that cannot be
    written are dropped and counted, and a later line reports how many.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
        self.dropped = 0
        self.error = ""  # why lines cannot be written now
        self._unreported = 0
        self._rest = b""  # the unwritten end of a line that was cut
        self._lines: list[str] = []
        self._closing = threading.Event()
        self._flusher = threading.Thread(target=self._flush_forever, name="log", daemon=True)
        self._flusher.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 - a line that cannot be formatted is dropped
            self._drop(1, error)
            return
        self._lines.append(line)
        if record.levelno >= logging.WARNING or len(self._lines) >= _MAX_BUFFERED_LINES:
            self.flush()

    def flush(self) -> None:
        """Write the buffered lines as far as there is room; drop the rest."""
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if not (lines or self._rest or self._unreported) or self._is_closed():
                return
            report = _dropped_line(self._unreported, self.error) if self._unreported else b""
            text = "".join(f"{line}\n" for line in lines)
            data = self._rest + report + text.encode(errors="backslashreplace")
            number, failure = self._write(data)
            if report and number > len(self._rest):
                self._unreported, report = 0, b""
            if failure is None:
                self._rest, self.error = b"", ""
                return
            left = self._keep_rest(data, number)
            self._drop(left.count(b"\n") - bool(report), failure)

    def close(self) -> None:
        self._closing.set()
        self.flush()
        with contextlib.suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        # It names users and personas: nobody else on this machine reads it.
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_private_file)

    def _is_closed(self) -> bool:
        return self.stream is None and self._closing.is_set()

    def _write(self, data: bytes) -> tuple[int, Exception | None]:
        """Return how many bytes were written, and the error if not all were.

        Bypasses the stream: after a failed write its buffer would keep the unwritten bytes.
        """
        number = 0
        try:
            descriptor = self._descriptor()
            while number < len(data):
                number += os.write(descriptor, data[number:])
        except Exception as error:  # noqa: BLE001 - see above
            return number, error
        return number, None

    def _descriptor(self) -> int:
        if self.stream is not None and os.fstat(self.stream.fileno()).st_size >= self.maxBytes:
            # If the file cannot be rotated, it grows further.
            with contextlib.suppress(OSError):
                self.doRollover()
        if self.stream is None:
            self.stream = self._open()
        return self.stream.fileno()

    def _keep_rest(self, data: bytes, number: int) -> bytes:
        """Keep the end of a cut line, to be written first; return the lines after it."""
        is_cut = data[number - 1 : number] != b"\n" if number else bool(self._rest)
        end = data.index(b"\n", number) + 1 if is_cut else number
        self._rest = data[number:end]
        return data[end:]

    def _drop(self, number: int, error: Exception) -> None:
        self.error = getattr(error, "strerror", None) or type(error).__name__
        self.dropped += number
        self._unreported += number

    def _flush_forever(self) -> None:
        while not self._closing.wait(_FLUSH_S):
            self.flush()


def _dropped_line(number: int, error: str) -> bytes:
    line = {
        "ts": _timestamp(time.time()),
        "level": "WARNING",
        "event": "log.dropped",
        "logger": __name__,
        "msg": "log.dropped",
        "number": number,
        "err": error,
    }
    return f"{_encode(line)}\n".encode()


def log_to_file(path: Path, level: str) -> logging.Handler:
    """Log to a rotating file; return the handler, which the caller closes."""
    make_private_folder(path.parent)
    handler = BufferedFileHandler(path)
    handler.setFormatter(JsonLinesFormatter())
    logger = logging.getLogger("plastic_memories")
    logger.setLevel(level)
    logger.addHandler(handler)
    logger.propagate = False
    return handler


def describe() -> dict[str, Any]:
    """Return how many lines were dropped since the start, and the current write error."""
    handlers = logging.getLogger("plastic_memories").handlers
    files = [handler for handler in handlers if isinstance(handler, BufferedFileHandler)]
    errors = [file.error for file in files if file.error]
    return {"dropped": sum(file.dropped for file in files), "error": "; ".join(errors)}


def stop_logging(handler: logging.Handler) -> None:
    logging.getLogger("plastic_memories").removeHandler(handler)
    handler.close()
