"""Download a model from a model hub: verified, resumable, and atomic."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from plastic_memories.adapters.embedding.known_files import FileCheckRecord, file_sha256
from plastic_memories.adapters.embedding.model_folder import MODEL_FILES, PROMPTS, TOKENIZER
from plastic_memories.errors import InvalidInput, Unavailable

# Besides the model and its tokenizer: the files that configure its use.
OPTIONAL_FILES = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    PROMPTS,
)
_MAX_TRIES = 6
_NOT_FOUND = 404
_PARTIAL = 206
_RANGE_NOT_SATISFIABLE = 416
_FIRST_SERVER_ERROR = 500
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_BLOB = re.compile(r"[0-9a-f]{40}")
# Errors for which a retry is useless unless the hub has been reached before.
_UNREACHABLE_ERRORS = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
# How files start that are no model: web pages, JSON messages, Git LFS pointers.
_NON_MODEL_PREFIXES = (b"<", b"{", b"version https://git-lfs")
_HEAD_BYTES = 256
Progress = Callable[[str, int, int], None]  # file, bytes done, bytes in all (0 if unknown)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    path: Path
    size: int
    # By checksum ("sha256" or "git"), by loading the model ("loaded"), or not at all ("").
    # "prefixes": the user replaced the hub's file with prefixes of their own.
    checked: str


class _ConnectionCut(Exception):
    """The connection ended early; the received bytes are kept."""


@dataclass(slots=True)
class ModelHub:
    """One model at one revision of a hub: {url}/{name}/resolve/{revision}/{path}."""

    client: httpx.Client
    url: str
    name: str
    revision: str = "main"
    wait: Callable[[float], None] = time.sleep
    _was_reached: bool = False
    _sent_a_page: bool = False

    def __post_init__(self) -> None:
        if not _is_http_url(self.url):
            raise InvalidInput(f"{self.url!r} is not an http(s) address.")

    def fetch_model(
        self, folder: Path, model_file: str, sha256: str, progress: Progress
    ) -> list[FetchedFile]:
        """Fetch all files an embedder needs into the folder."""
        found = self._fetch_weights(folder, model_file, sha256, progress)
        tokenizer = self.fetch(TOKENIZER, folder, "", progress)
        if tokenizer is None:
            raise InvalidInput(self._missing_file_message(TOKENIZER))
        extras = [self.fetch(path, folder, "", progress) for path in OPTIONAL_FILES]
        return [*found, tokenizer, *(extra for extra in extras if extra is not None)]

    def fetch(self, path: str, folder: Path, sha256: str, progress: Progress) -> FetchedFile | None:
        """Fetch one file; return None if the hub does not have it."""
        target, wanted = folder / path, sha256.lower()
        record = FileCheckRecord(folder, self.revision)
        how = _matching_checksum_kind(target, wanted) if wanted else record.check_method(path)
        if how:
            return FetchedFile(target, target.stat().st_size, how)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        checksum = self._download(part, target, path, progress)
        if checksum is None:
            return None
        found = _verify_and_rename(part, target, wanted, checksum)
        if found.checked:
            record.record_check(path, found.checked)
        return found

    def mark_loaded(self, folder: Path, files: Sequence[FetchedFile]) -> list[FetchedFile]:
        """Record that the model was loaded: a check for files without a checksum."""
        record = FileCheckRecord(folder, self.revision)
        for file in files:
            if not file.checked:
                record.record_check(str(file.path.relative_to(folder)), "loaded")
        return [file if file.checked else replace(file, checked="loaded") for file in files]

    def _fetch_weights(
        self, folder: Path, model_file: str, sha256: str, progress: Progress
    ) -> list[FetchedFile]:
        for path in (model_file,) if model_file else MODEL_FILES:
            found = self.fetch(path, folder, sha256, progress)
            if found is not None:
                # Large models store their weights in a second file.
                weights = self.fetch(f"{path}_data", folder, "", progress)
                return [found] if weights is None else [found, weights]
        raise InvalidInput(self._missing_file_message(model_file or "model in ONNX"))

    def _missing_file_message(self, what: str) -> str:
        if self._sent_a_page:
            return f"{self.url} answers with a web page where {self.name} should have its files."
        return f"{self.name} has no {what}."

    def _download(self, part: Path, target: Path, path: str, progress: Progress) -> str | None:
        """Fetch a file, resuming as often as necessary; return the hub's checksum."""
        problem: Exception = _ConnectionCut()
        for attempt in range(_MAX_TRIES):
            try:
                return self._download_rest(part, target, path, progress)
            except _UNREACHABLE_ERRORS as error:
                if not self._was_reached:
                    host = error.request.url.host
                    raise Unavailable(f"{host} cannot be reached: {error}.") from error
                problem = error
            except (_ConnectionCut, httpx.TransportError) as error:
                problem = error
            if attempt < _MAX_TRIES - 1:
                self.wait(0.5 * 2**attempt)
        why = str(problem) if isinstance(problem, _ConnectionCut) else "was cut off"
        raise Unavailable(f"{path} {why} {_MAX_TRIES} times; run it again to go on.") from problem

    def _download_rest(self, part: Path, target: Path, path: str, progress: Progress) -> str | None:
        """Append the missing bytes to the partial file; return the hub's checksum."""
        have = part.stat().st_size if part.is_file() else 0
        address = f"{self.url.rstrip('/')}/{self.name}/resolve/{self.revision}/{path}"
        headers = {"Range": f"bytes={have}-"} if have else {}
        # With compression, a range would address other bytes than those on disk.
        headers["Accept-Encoding"] = "identity"
        with self.client.stream("GET", address, headers=headers, follow_redirects=True) as answer:
            self._was_reached = True
            checksum = _checksum_header(answer)
            if self._is_missing(answer):
                return None
            if answer.status_code == _RANGE_NOT_SATISFIABLE:
                return checksum  # the file is complete; the checksum will be verified
            if answer.status_code >= _FIRST_SERVER_ERROR:
                raise _ConnectionCut(f"was answered with {answer.status_code}")
            if not answer.is_success:
                raise Unavailable(f"{path}: the hub answered {answer.status_code}.")
            if (
                checksum
                and target.is_file()
                and _digest(target, _checksum_kind(checksum)) == checksum
            ):
                target.replace(part)  # an earlier command fetched it without recording it
                return checksum
            resumed = have if answer.status_code == _PARTIAL else 0
            total = resumed + int(answer.headers.get("content-length") or 0)
            with part.open("ab" if resumed else "wb") as file:
                for done, chunk in _counted_chunks(answer, resumed):
                    file.write(chunk)
                    progress(path, done, total)
            return checksum

    def _is_missing(self, answer: httpx.Response) -> bool:
        """Return whether the hub lacks the file: some hubs send a web page instead of a 404."""
        is_page = answer.headers.get("content-type", "").lower().startswith("text/html")
        self._sent_a_page |= answer.is_success and is_page
        return answer.status_code == _NOT_FOUND or (answer.is_success and is_page)


def _is_http_url(text: str) -> bool:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return False
    return url.scheme in ("http", "https") and bool(url.host)


def _counted_chunks(answer: httpx.Response, done: int) -> Iterator[tuple[int, bytes]]:
    # Unbuffered: bytes held back for a larger chunk would be lost with the connection.
    for chunk in answer.iter_bytes():
        done += len(chunk)
        yield done, chunk


def _checksum_header(answer: httpx.Response) -> str:
    """Return the checksum of the content: the hub sends it before it redirects."""
    for response in (*answer.history, answer):
        for header in ("x-linked-etag", "etag"):
            checksum = response.headers.get(header, "").removeprefix("W/").strip('"').lower()
            if _SHA256.fullmatch(checksum) or _GIT_BLOB.fullmatch(checksum):
                return str(checksum)
    return ""


def _verify_and_rename(part: Path, target: Path, sha256: str, from_hub: str) -> FetchedFile:
    """Verify the checksum and rename the file; delete it if it is wrong."""
    expected = sha256 or from_hub
    problem = ""
    if expected and _digest(part, _checksum_kind(expected)) != expected:
        problem = "arrived damaged (its checksum differs); run it again"
    elif not expected and not _is_plausible(part, target.suffix):
        problem = "is not what its name says: the hub sends something else"
    if problem:
        part.unlink()
        raise Unavailable(f"{target.name} {problem}.")
    size = part.stat().st_size
    part.replace(target)
    return FetchedFile(target, size, _checksum_kind(expected))


def _is_plausible(file: Path, suffix: str) -> bool:
    """Return whether a file without a checksum can be what its name says."""
    if suffix != ".json":
        with file.open("rb") as opened:
            return not opened.read(_HEAD_BYTES).lstrip().startswith(_NON_MODEL_PREFIXES)
    try:
        return isinstance(json.loads(file.read_bytes()), dict)
    except ValueError:
        return False


def _matching_checksum_kind(file: Path, sha256: str) -> str:
    return "sha256" if file.is_file() and file_sha256(file) == sha256 else ""


def _checksum_kind(checksum: str) -> str:
    return "git" if _GIT_BLOB.fullmatch(checksum) else "sha256" if checksum else ""


def _digest(file: Path, kind: str) -> str:
    if kind == "sha256":
        return file_sha256(file)
    # Git names small files by their SHA-1 blob id; it is used as a checksum, not for security.
    content = file.read_bytes()
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
