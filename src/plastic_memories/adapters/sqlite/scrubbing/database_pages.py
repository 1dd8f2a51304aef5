"""Clears the bytes between the cells of a page, where SQLite leaves copies of moved rows.

`secure_delete` overwrites a row where it is. But a page that was split keeps, in its unused part,
what was moved to the new page; when the row is deleted there, the old copy stays. No statement
reaches it, so it is overwritten in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import apsw

_FILE_HEADER = 100
_AUTO_VACUUM = 52  # where the file says which page is the largest root, if it does
# The kind of page, and the length of its header: interior and leaf, of indexes and of tables.
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
# From this page on an overflow page could begin with one of these bytes.
_MOST_PAGES = 1 << 24
_CHUNK_BYTES = 1 << 20


class _File(Protocol):
    def xRead(self, amount: int, offset: int) -> bytes: ...  # noqa: N802 - SQLite's name
    def xWrite(self, data: bytes, offset: int) -> None: ...  # noqa: N802 - SQLite's name
    def xSync(self, flags: int) -> None: ...  # noqa: N802 - SQLite's name
    def xFileSize(self) -> int: ...  # noqa: N802 - SQLite's name


def pages_to_clear(path: str) -> list[int]:
    """Return the pages, counted from 0, that hold something in their unused part."""
    with _open_file(path) as file:
        size = _page_size(file)
        if not _is_readable(file, size):
            return []
        return list(_unclear(file, size))


def clear_pages(
    db: apsw.Connection, path: str, pages: Iterable[int], is_log_empty: Callable[[], bool]
) -> bool:
    """Overwrite the unused part of some pages; return False if somebody has written meanwhile.

    Only bytes that no reader looks at are written, so a crash in between does no harm.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        # With an empty log and no writer the file is all there is.
        if not is_log_empty():
            return False
        with _open_file(path) as file:
            size = _page_size(file)
            for page in pages:
                _clear(file, size, page)
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        touch(db)  # connections that have these pages in memory read them again
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    return True


def touch(db: apsw.Connection) -> None:
    """Change a row, so that a commit follows; the same value again would be no change."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES ('scrubs', '1') ON CONFLICT (key) "
        "DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)"
    )


@contextmanager
def _open_file(path: str) -> Iterator[_File]:
    # By SQLite itself: closing a file of ours would drop the locks that this process has on it.
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    file = apsw.VFSFile("", path, [flags, 0])
    try:
        yield file
    finally:
        file.xClose()


def _page_size(file: _File) -> int:
    size = int.from_bytes(file.xRead(2, 16), "big")
    return 65_536 if size == 1 else size


def _is_readable(file: _File, size: int) -> bool:
    """Return whether the first byte of a page tells its kind, as it does without auto-vacuum."""
    is_auto_vacuum = any(file.xRead(4, _AUTO_VACUUM))
    return not is_auto_vacuum and file.xFileSize() // size < _MOST_PAGES


def _unclear(file: _File, size: int) -> Iterator[int]:
    at_once = max(1, _CHUNK_BYTES // size)
    zeros = bytes(size)
    for first in range(0, file.xFileSize() // size, at_once):
        data = file.xRead(at_once * size, first * size)
        for number in range(len(data) // size):
            page = first + number
            # Most pages are left with one look at their first byte.
            if page == 0 or data[number * size] in _HEADERS:
                start, end = _gap(data, number * size, size, is_first=page == 0)
                if data[start:end] != zeros[: end - start]:
                    yield page


def _gap(data: bytes, at: int, size: int, *, is_first: bool) -> tuple[int, int]:
    """Return where the unused part of the page at an offset begins and ends."""
    header = at + _FILE_HEADER if is_first else at
    length = _HEADERS.get(data[header])
    if length is None:
        return at, at
    cells = int.from_bytes(data[header + 3 : header + 5], "big")
    content = int.from_bytes(data[header + 5 : header + 7], "big") or 65_536
    start, end = header + length + 2 * cells, at + content
    return (start, end) if start <= end <= at + size else (at, at)


def _clear(file: _File, size: int, page: int) -> None:
    data = file.xRead(size, page * size)
    start, end = _gap(data, 0, size, is_first=page == 0)
    if end > start:
        file.xWrite(bytes(end - start), page * size + start)
