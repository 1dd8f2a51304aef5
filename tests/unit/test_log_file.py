"""The log file on a disk without room: nobody who logs is hurt, and what is lost is counted."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from full_disk import no_file_larger_than
from plastic_memories.logs import (
    BufferedFileHandler,
    JsonLinesFormatter,
    log_to_file,
    stop_logging,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")


@pytest.fixture
def handler(tmp_path: Path) -> Iterator[BufferedFileHandler]:
    opened = BufferedFileHandler(tmp_path / "hub.log")
    opened.setFormatter(JsonLinesFormatter())
    yield opened
    opened.close()


def log(handler: BufferedFileHandler, *events: str, level: int = logging.WARNING) -> None:
    for event in events:
        handler.handle(logging.makeLogRecord({"msg": event, "levelno": level, "levelname": "X"}))


def lines_of(handler: BufferedFileHandler) -> list[dict[str, Any]]:
    text = Path(handler.baseFilename).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_full_disk_does_not_hurt_whoever_logs(handler: BufferedFileHandler) -> None:
    log(handler, "before")

    with no_file_larger_than(Path(handler.baseFilename).stat().st_size):
        log(handler, "one", "two")

        assert (handler.dropped, handler.error) == (2, "File too large")

    log(handler, "after")
    said = [(line["event"], line.get("number")) for line in lines_of(handler)]
    assert said == [("before", None), ("log.dropped", 2), ("after", None)]
    assert (handler.dropped, handler.error) == (2, "")


def test_a_line_that_is_cut_is_written_to_its_end_later(handler: BufferedFileHandler) -> None:
    log(handler, "before")
    size = Path(handler.baseFilename).stat().st_size
    for more in (10, 20):
        with no_file_larger_than(size + more):
            log(handler, f"cut after {more}")

    log(handler, "after")

    said = [(line["event"], line.get("number")) for line in lines_of(handler)]
    assert said == [("before", None), ("cut after 10", None), ("log.dropped", 1), ("after", None)]


def test_room_is_noticed_without_another_line(handler: BufferedFileHandler) -> None:
    with no_file_larger_than(0):
        log(handler, "lost")

    handler.flush()  # as the thread does it

    assert [line["event"] for line in lines_of(handler)] == ["log.dropped"]


def test_the_thread_that_flushes_survives_a_full_disk(handler: BufferedFileHandler) -> None:
    with no_file_larger_than(0):
        log(handler, "lost", level=logging.INFO)
        handler._flusher.join(1)

    assert handler._flusher.is_alive()
    assert handler.dropped == 1


def test_a_line_that_cannot_be_made_is_counted_too(handler: BufferedFileHandler) -> None:
    broken = logging.makeLogRecord({"msg": "%d", "args": ("x",), "levelno": logging.ERROR})

    handler.handle(broken)
    log(handler, "after")

    assert [line["event"] for line in lines_of(handler)] == ["log.dropped", "after"]


def test_a_file_that_cannot_be_put_away_is_written_further(
    handler: BufferedFileHandler, tmp_path: Path
) -> None:
    (tmp_path / "hub.log.1").mkdir()
    (tmp_path / "hub.log.1" / "x").touch()
    handler.maxBytes, handler.backupCount = 1, 1
    log(handler, "one")

    log(handler, "two")

    assert [line["event"] for line in lines_of(handler)] == ["one", "two"]


def test_nobody_else_can_read_the_log_or_list_its_folders(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "logs"

    opened = log_to_file(folder / "hub.log", "INFO")
    assert isinstance(opened, BufferedFileHandler)
    opened.doRollover()
    stop_logging(opened)

    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    assert [one.stat().st_mode & 0o777 for one in (folder, folder.parent)] == [0o700, 0o700]


def test_closing_on_a_full_disk_does_not_fail(tmp_path: Path) -> None:
    handler = BufferedFileHandler(tmp_path / "hub.log")
    with no_file_larger_than(0):
        log(handler, "lost", level=logging.INFO)

        handler.close()

    assert handler.dropped == 1
