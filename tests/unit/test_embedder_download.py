"""`plastic-memories embedder download`, from a real server that misbehaves."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from embedding_parts import write_model
from plastic_memories.adapters.embedding.download import ModelHub
from plastic_memories.adapters.embedding.onnx import onnx
from plastic_memories.cli.main import main
from plastic_memories.errors import InvalidInput, Unavailable
from plastic_memories.settings import load

NAME = "owner/tiny-model"
BIG = "model.onnx"


@dataclass
class Shelf:
    """A model hub: files by path, and how it fails."""

    files: dict[str, bytes] = field(default_factory=dict)
    die_after: list[int] = field(default_factory=list)  # bytes of the big file, by request
    ranges: list[str] = field(default_factory=list)  # as asked for, of the big file
    wrong: bool = False
    sends_checksum: bool = True
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shelf: Shelf

    def do_GET(self) -> None:
        path = self.path.removeprefix(f"/{NAME}/resolve/main/").removeprefix("/cdn/")
        content = self.shelf.files.get(path)
        if content is None:
            self._say(404)
        elif not self.path.startswith("/cdn/"):
            self._send_elsewhere(path, content)
        else:
            self._send(path, content)

    def _send_elsewhere(self, path: str, content: bytes) -> None:
        digest = "0" * 64 if self.shelf.wrong else hashlib.sha256(content).hexdigest()
        more = {"X-Linked-ETag": f'"{digest}"'} if self.shelf.sends_checksum else {}
        self._say(302, {"Location": f"/cdn/{path}", **more})

    def _send(self, path: str, content: bytes) -> None:
        asked = self.headers.get("Range", "")
        start = int(re.findall(r"\d+", asked)[0]) if asked else 0
        if path == BIG:
            self.shelf.ranges.append(asked)
        if start >= len(content):
            self._say(416)
            return
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        stop = self.shelf.die_after.pop(0) if path == BIG and self.shelf.die_after else len(content)
        self.wfile.write(content[start : start + stop])
        self.close_connection = True

    def _say(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    folder = write_model(tmp_path / "original")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    stocked = Shelf(files | {"1_Pooling/config.json": b'{"pooling_mode_cls_token": true}'})
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"shelf": stocked}))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stocked.url = f"http://127.0.0.1:{http.server_port}"
    yield stocked
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def hub(shelf: Shelf) -> Iterator[ModelHub]:
    with httpx.Client() as client:
        yield ModelHub(client, shelf.url, NAME, wait=lambda _: None)


def _quiet(path: str, done: int, total: int) -> None:
    pass


def _download(shelf: Shelf, folder: Path, *arguments: str) -> tuple[int, Any]:
    env = {
        "PLASTIC_MEMORIES_DATA_DIR": str(folder),
        "PLASTIC_MEMORIES_EMBEDDER_HUB_URL": shelf.url,
    }
    command = ["embedder", "download", NAME, "--json", *arguments]
    done = CliRunner().invoke(main, command, env=env)
    return done.exit_code, json.loads(done.stdout) if done.exit_code == 0 else done.output


def test_a_downloaded_model_can_be_used(shelf: Shelf, tmp_path: Path) -> None:
    code, answer = _download(shelf, tmp_path, "--query-prefix", "query: ")

    settings = load(
        {
            "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path),
            "PLASTIC_MEMORIES_EMBEDDER": f"onnx:{NAME}",
        }
    )
    choice = onnx(settings)
    assert code == 0
    assert {one["path"]: one["checked"] for one in answer["files"]} == {
        "model.onnx": "sha256",
        "tokenizer.json": "sha256",
        "1_Pooling/config.json": "sha256",
    }
    assert choice.load is not None
    assert choice.load().embed(["tea"], purpose="query").shape == (1, 24)


def test_a_connection_that_dies_is_resumed_where_it_was(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    shelf.die_after = [1000, 500]

    found = hub.fetch(BIG, tmp_path, "", _quiet)

    assert found is not None
    assert found.path.read_bytes() == shelf.files[BIG]
    assert shelf.ranges == ["", "bytes=1000-", "bytes=1500-"]


def test_a_command_that_was_killed_goes_on_at_the_next(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    (tmp_path / f"{BIG}.part").write_bytes(shelf.files[BIG][:2000])

    found = hub.fetch(BIG, tmp_path, "", _quiet)

    assert found is not None
    assert found.path.read_bytes() == shelf.files[BIG]
    assert shelf.ranges == ["bytes=2000-"]
    assert not (tmp_path / f"{BIG}.part").exists()


def test_what_was_complete_but_not_named_is_only_checked(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    (tmp_path / f"{BIG}.part").write_bytes(shelf.files[BIG])

    found = hub.fetch(BIG, tmp_path, "", _quiet)

    assert found is not None
    assert (found.size, found.checked) == (len(shelf.files[BIG]), "sha256")


def test_one_that_keeps_dying_says_so_and_keeps_what_came(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    shelf.die_after = [100] * 6

    with pytest.raises(Unavailable, match="cut off 6 times"):
        hub.fetch(BIG, tmp_path, "", _quiet)

    assert (tmp_path / f"{BIG}.part").stat().st_size == 600
    assert not (tmp_path / BIG).exists()


def test_a_damaged_file_never_gets_its_name(shelf: Shelf, hub: ModelHub, tmp_path: Path) -> None:
    shelf.wrong = True

    with pytest.raises(Unavailable, match="arrived damaged"):
        hub.fetch(BIG, tmp_path, "", _quiet)

    assert list(tmp_path.glob(f"{BIG}*")) == []


def test_a_given_checksum_is_compared_where_the_hub_gives_none(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    shelf.sends_checksum = False
    right = hashlib.sha256(shelf.files[BIG]).hexdigest()

    with pytest.raises(Unavailable, match="arrived damaged"):
        hub.fetch(BIG, tmp_path, "1" * 64, _quiet)
    found = hub.fetch(BIG, tmp_path, right, _quiet)
    unchecked = hub.fetch("tokenizer.json", tmp_path, "", _quiet)

    assert found is not None
    assert unchecked is not None
    assert (found.checked, unchecked.checked) == ("sha256", "")


def test_small_files_are_checked_by_their_name_in_git(tmp_path: Path) -> None:
    content = b'{"pad_token_id": 1}'
    name = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=content, headers={"ETag": f'"{name}"'})

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        found = ModelHub(client, "http://hub", NAME).fetch("config.json", tmp_path, "", _quiet)

    assert found is not None
    assert found.checked == "git"


def test_what_is_there_is_not_fetched_again(shelf: Shelf, hub: ModelHub, tmp_path: Path) -> None:
    hub.fetch(BIG, tmp_path, "", _quiet)

    hub.fetch(BIG, tmp_path, "", _quiet)

    assert shelf.ranges == [""]


def test_a_hub_without_the_model_is_named(shelf: Shelf, hub: ModelHub, tmp_path: Path) -> None:
    del shelf.files[BIG]

    with pytest.raises(InvalidInput, match="has no model in ONNX"):
        hub.fetch_model(tmp_path, "", "", _quiet)


@pytest.mark.parametrize("name", ["../../etc", "a/../b", "model", "a/b/c", "/etc/passwd", "a/.b"])
def test_a_strange_name_leads_nowhere(shelf: Shelf, tmp_path: Path, name: str) -> None:
    env = {"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data")}

    done = CliRunner().invoke(main, ["embedder", "download", name, "--url", shelf.url], env=env)

    assert done.exit_code == 1
    assert "not of the form owner/model" in done.output
    assert not (tmp_path / "data").exists()
