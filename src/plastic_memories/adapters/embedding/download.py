"""Fetches a model's files from a model hub: checked, resumed where it was cut off, whole or not."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from plastic_memories.adapters.embedding.model_folder import MODEL_FILES, PROMPTS, TOKENIZER
from plastic_memories.errors import InvalidInput, Unavailable

# Beside the model itself and its tokenizer: what says how it wants to be used.
EXTRAS = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    PROMPTS,
)
_TRIES = 6
_NOT_FOUND = 404
_PARTIAL = 206
_RANGE_IS_EMPTY = 416
_PASSING = 500
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_BLOB = re.compile(r"[0-9a-f]{40}")
Progress = Callable[[str, int, int], None]  # file, bytes done, bytes in all (0 if unknown)


@dataclass(frozen=True, slots=True)
class Fetched:
    path: Path
    size: int
    checked: str  # how: "sha256", "git", or empty if nobody gave a checksum


class _CutOff(Exception):
    """The connection ended in the middle; what arrived is kept."""


@dataclass(frozen=True, slots=True)
class ModelHub:
    """One model at one revision, as a hub serves it: {url}/{name}/resolve/{revision}/{path}."""

    client: httpx.Client
    url: str
    name: str
    revision: str = "main"
    wait: Callable[[float], None] = time.sleep

    def fetch_model(
        self, folder: Path, model_file: str, sha256: str, progress: Progress
    ) -> list[Fetched]:
        """Fetch everything an embedder needs into the folder."""
        found = [self._model(folder, model_file, sha256, progress)]
        tokenizer = self.fetch(TOKENIZER, folder, "", progress)
        if tokenizer is None:
            raise InvalidInput(f"{self.name} has no {TOKENIZER}.")
        extras = [self.fetch(path, folder, "", progress) for path in EXTRAS]
        return [*found, tokenizer, *(extra for extra in extras if extra is not None)]

    def fetch(self, path: str, folder: Path, sha256: str, progress: Progress) -> Fetched | None:
        """Fetch one file; return None if the hub has none of this name."""
        target = folder / path
        if target.is_file() and sha256 in ("", _digest(target, "sha256")):
            return Fetched(target, target.stat().st_size, "earlier")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        for number in range(_TRIES):
            try:
                answer = self._into(part, path, progress)
            except (_CutOff, httpx.TransportError) as error:
                if number == _TRIES - 1:
                    raise Unavailable(
                        f"{path} was cut off {_TRIES} times; run it again to go on."
                    ) from error
                self.wait(0.5 * 2**number)
            else:
                return None if answer is None else _finished(part, target, sha256, answer)
        raise AssertionError("the last try returns or raises")

    def _model(self, folder: Path, model_file: str, sha256: str, progress: Progress) -> Fetched:
        for path in (model_file,) if model_file else MODEL_FILES:
            found = self.fetch(path, folder, sha256, progress)
            if found is not None:
                # Large models keep their weights in a second file.
                self.fetch(f"{path}_data", folder, "", progress)
                return found
        raise InvalidInput(f"{self.name} has no {model_file or 'model in ONNX'}.")

    def _into(self, part: Path, path: str, progress: Progress) -> str | None:
        """Add what is missing to the part that is there; return the checksum the hub gives."""
        have = part.stat().st_size if part.is_file() else 0
        address = f"{self.url.rstrip('/')}/{self.name}/resolve/{self.revision}/{path}"
        headers = {"Range": f"bytes={have}-"} if have else {}
        # Compressed on the way, a range would be of other bytes than those that are kept.
        headers["Accept-Encoding"] = "identity"
        with self.client.stream("GET", address, headers=headers, follow_redirects=True) as answer:
            if answer.status_code == _NOT_FOUND:
                return None
            if answer.status_code == _RANGE_IS_EMPTY:
                return _checksum(answer)  # it was all there; the checksum will tell
            if answer.status_code >= _PASSING:
                raise _CutOff
            if not answer.is_success:
                raise Unavailable(f"{path}: the hub answered {answer.status_code}.")
            resumed = have if answer.status_code == _PARTIAL else 0
            total = resumed + int(answer.headers.get("content-length") or 0)
            with part.open("ab" if resumed else "wb") as file:
                for done, chunk in _counted(answer, resumed):
                    file.write(chunk)
                    progress(path, done, total)
            return _checksum(answer)


def _counted(answer: httpx.Response, done: int) -> Iterator[tuple[int, bytes]]:
    # As they come: whatever waited for a larger piece would be lost with the connection.
    for chunk in answer.iter_bytes():
        done += len(chunk)
        yield done, chunk


def _checksum(answer: httpx.Response) -> str:
    """Return the checksum of the content: the hub gives it before it sends us elsewhere."""
    for one in (*answer.history, answer):
        for header in ("x-linked-etag", "etag"):
            given = one.headers.get(header, "").removeprefix("W/").strip('"').lower()
            if _SHA256.fullmatch(given) or _GIT_BLOB.fullmatch(given):
                return str(given)
    return ""


def _finished(part: Path, target: Path, sha256: str, given: str) -> Fetched:
    """Compare, and give the file its name; a wrong one is thrown away."""
    expected = sha256.lower() or given
    kind = "git" if _GIT_BLOB.fullmatch(expected) else "sha256" if expected else ""
    if expected and _digest(part, kind) != expected:
        part.unlink()
        raise Unavailable(f"{target.name} arrived damaged (its checksum differs); run it again.")
    size = part.stat().st_size
    part.replace(target)
    return Fetched(target, size, kind)


def _digest(file: Path, kind: str) -> str:
    if kind == "sha256":
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    # Small files are named by what git calls them, which is no secret-keeping matter.
    content = file.read_bytes()
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
