"""One folder on the disk, from which no name and no link leads out."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

# Not there, or not what it has to be: a link, a file in the place of a folder, too long a name.
_ABSENT_ERRORS = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.EISDIR,
    errno.ENXIO,
}
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# Without waiting: nobody may ever write into the other end of a named pipe.
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# A colon names a stream of a file on Windows, and is a letter like any other elsewhere.
_FORBIDDEN_CHARS = frozenset("/\\:\0" if os.name == "nt" else "/\0")
_MAX_NAME_BYTES = 255
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class SafeFolder(Protocol):
    """A folder and what lies directly in it. Links do not exist, nor does what is no plain file."""

    def child(self, name: str, *, make: bool = False) -> SafeFolder | None: ...

    def names(self) -> list[str]: ...

    def file_stat(self, name: str) -> os.stat_result | None:
        """Return what is known of a plain file without opening it."""
        ...

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result] | None:
        """Return a file's first bytes, and its state at that moment."""
        ...

    def put(self, name: str, content: bytes, mode: int) -> None:
        """Write beside it, sync, and put it in its place: whole or not at all."""
        ...

    def is_same(self, one: str, other: str) -> bool:
        """Return whether two names in here are the same file or folder."""
        ...

    def close(self) -> None: ...


class DescriptorFolder:
    """Held by its descriptor, so that nobody can put another in its place while it is used."""

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor

    def child(self, name: str, *, make: bool = False) -> DescriptorFolder | None:
        if not _is_safe_name(name):
            return None
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self._fd)
        with _absent_is_none() as found:
            found.append(os.open(name, _FOLDER | _NO_LINK, dir_fd=self._fd))
        return DescriptorFolder(found[0]) if found else None

    def names(self) -> list[str]:
        return os.listdir(self._fd)  # noqa: PTH208 - a descriptor is no path

    def file_stat(self, name: str) -> os.stat_result | None:
        states: list[os.stat_result] = []
        with _absent_is_none():
            states.append(os.stat(name, dir_fd=self._fd, follow_symlinks=False))
        return states[0] if states and stat.S_ISREG(states[0].st_mode) else None

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result] | None:
        if not _is_safe_name(name):
            return None
        with _absent_is_none() as found:
            found.append(os.open(name, _FILE | _NO_LINK, dir_fd=self._fd))
        return _read_limited(found[0], limit) if found else None

    def put(self, name: str, content: bytes, mode: int) -> None:
        part = f".{name}.part"
        with suppress(FileNotFoundError):  # left behind by a crash
            os.unlink(part, dir_fd=self._fd)
        try:
            _write_all(os.open(part, _NEW_FILE_FLAGS, mode, dir_fd=self._fd), content, mode)
            os.rename(part, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=self._fd)
            raise
        os.fsync(self._fd)

    def is_same(self, one: str, other: str) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.stat(one, dir_fd=self._fd), os.stat(other, dir_fd=self._fd))
        return False

    def close(self) -> None:
        os.close(self._fd)


class PathFolder:
    """Known by its path, for systems that cannot hold a folder open; links are looked for."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def child(self, name: str, *, make: bool = False) -> PathFolder | None:
        place = self._child_path(name)
        if place is None:
            return None
        if make:
            place.mkdir(mode=0o700, exist_ok=True)
        return PathFolder(place) if place.is_dir() else None

    def names(self) -> list[str]:
        return [one.name for one in self._path.iterdir()]

    def file_stat(self, name: str) -> os.stat_result | None:
        place = self._child_path(name)
        return place.lstat() if place is not None and place.is_file() else None

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result] | None:
        place = self._child_path(name)
        if place is None or not place.is_file():
            return None
        return _read_limited(os.open(place, _FILE | _NO_LINK), limit)

    def put(self, name: str, content: bytes, mode: int) -> None:
        part = self._path / f".{name}.part"
        part.unlink(missing_ok=True)
        try:
            _write_all(os.open(part, _NEW_FILE_FLAGS, mode), content, mode)
            part.replace(self._path / name)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def is_same(self, one: str, other: str) -> bool:
        with suppress(FileNotFoundError):
            return (self._path / one).samefile(self._path / other)
        return False

    def close(self) -> None:
        """Nothing is held."""

    def _child_path(self, name: str) -> Path | None:
        """Return where a name leads, unless that is somewhere else."""
        place = self._path / name
        if (
            not _is_safe_name(name)
            or len(os.fsencode(name)) > _MAX_NAME_BYTES
            or place.is_symlink()
        ):
            return None
        # A junction is no link to Python before 3.12, but it resolves to another place.
        return place if place.resolve() == place else None


def open_root(root: Path) -> SafeFolder | None:
    """Open the folder that holds everybody's; it alone may be a link: its owner has named it."""
    if os.open not in os.supports_dir_fd:
        return PathFolder(root) if root.is_dir() else None
    with _absent_is_none() as found:
        found.append(os.open(root, _FOLDER))
    return DescriptorFolder(found[0]) if found else None


@contextmanager
def _absent_is_none() -> Iterator[list[int]]:
    """Collect one descriptor; what is not there or not what it should be leaves none."""
    found: list[int] = []
    try:
        yield found
    except OSError as error:
        if error.errno not in _ABSENT_ERRORS:
            raise


def _is_safe_name(name: str) -> bool:
    return name not in ("", ".", "..") and not _FORBIDDEN_CHARS.intersection(name)


def _read_limited(descriptor: int, limit: int) -> tuple[bytes, os.stat_result] | None:
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            return None
        return file.read(limit), state


def _write_all(descriptor: int, content: bytes, mode: int) -> None:
    with os.fdopen(descriptor, "wb") as file:
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
