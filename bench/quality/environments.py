"""Virtual environments of the peers: created once, cached in a folder, versions pinned."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

DEFAULT_CACHE = Path.home() / ".cache" / "plastic-memories-bench"
_LISTS = Path(__file__).parents[1] / "environments"
_NOT_PEERS = {"bare", "picture"}
# The same package in two setups: these peers share the environment of another.
_SHARED = {"mem0-apart": "mem0"}
_INSTALL_LIMIT_S = 1200


class NotInstalled(Exception):
    """An environment could not be created; the text says why."""


@dataclass(frozen=True)
class Environments:
    """Finds or installs what `environments/NAME.txt` (and `NAME.no-deps.txt`) list."""

    cache: Path

    @property
    def vectors(self) -> Path:
        """Return the folder that caches vectors of texts between runs."""
        self.cache.mkdir(parents=True, exist_ok=True)
        return self.cache / "vectors.db"

    def log(self, name: str) -> Path:
        """Return the log file of a peer's output."""
        folder = self.cache / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"

    def is_ready(self, name: str) -> bool:
        return (self.folder(name) / "ready").exists()

    def python(self, name: str) -> Path:
        """Return the interpreter of a peer's environment; install it where it is missing."""
        folder = self.folder(name)
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        python = folder / scripts / "python"
        if not self.is_ready(name):
            self._make(name, folder, python)
        return python

    def _make(self, name: str, folder: Path, python: Path) -> None:
        try:
            venv.create(folder, with_pip=True, clear=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotInstalled(f"no virtual environment could be made: {error}") from error
        for file, flags in _lists(name):
            _pip(python, [*flags, "-r", str(file)], self.log(f"{name}-install"))
        (folder / "ready").touch()

    def folder(self, name: str) -> Path:
        """Return the folder of a peer's environment."""
        text = sys.version + "".join(file.read_text() for file, _ in _lists(name))
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return self.cache / "environments" / f"{environment_of(name)}-{digest}"


def peer_names() -> list[str]:
    """Return every peer: each has an adapter in `peers/`, and its own or another's environment."""
    names = {file.name.split(".")[0] for file in _LISTS.glob("*.txt")}
    return sorted((names | _SHARED.keys()) - _NOT_PEERS)


def adapter_of(name: str) -> str:
    """Return the module of a peer in `peers/`.

    >>> adapter_of("mem0-apart")
    'mem0_apart'
    """
    return name.replace("-", "_")


def environment_of(name: str) -> str:
    """Return the name of the environment that a peer runs in.

    >>> environment_of("mem0-apart"), environment_of("chroma")
    ('mem0', 'chroma')
    """
    return _SHARED.get(name, name)


def version_of(name: str) -> str:
    """Return the first pin of a list: the peer itself."""
    lines = [line for file, _ in _lists(name) for line in file.read_text().splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), "")


def _lists(name: str) -> list[tuple[Path, list[str]]]:
    whose = environment_of(name)
    lists = [(_LISTS / f"{whose}.no-deps.txt", ["--no-deps"]), (_LISTS / f"{whose}.txt", [])]
    return [(file, flags) for file, flags in lists if file.exists()]


def _pip(python: Path, arguments: list[str], log: Path) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *arguments]
    with log.open("w") as output:
        try:
            done = subprocess.run(
                command, stdout=output, stderr=output, timeout=_INSTALL_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise NotInstalled(f"pip took longer than {_INSTALL_LIMIT_S} s") from None
    if done.returncode:
        raise NotInstalled(last_line(log))


def last_line(log: Path) -> str:
    """Return the last line of a log, which usually has the error."""
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"
