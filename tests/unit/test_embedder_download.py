"""`plastic-memories embedder download`, from a real server that misbehaves."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
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
from plastic_memories.settings import load_settings

NAME = "owner/tiny-model"
BIG = "model.onnx"


@dataclass
class Shelf:
    """A model hub: files by path, and how it fails."""

    files: dict[str, bytes] = field(default_factory=dict)
    die_after: list[int] = field(default_factory=list)  # bytes of the big file, by request
    ranges: list[str] = field(default_factory=list)  # as asked for, of the big file
    wrong: bool = False
    page: str = ""  # the content type of what is sent for every path, instead of a file
    status: int = 0  # what every path is answered with, if not 0
    sends_checksum: bool = True
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shelf: Shelf

    def do_GET(self) -> None:
        path = self.path.removeprefix(f"/{NAME}/resolve/main/").removeprefix("/cdn/")
        content = self.shelf.files.get(path)
        if self.shelf.status:
            self._say(self.shelf.status)
        elif self.shelf.page:
            self._say(200, {"Content-Type": self.shelf.page}, b"<html>login</html>")
        elif content is None:
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

    def _say(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

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

    settings = load_settings(
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
    assert answer["dimension"] == 24
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


def test_what_was_checked_is_remembered_and_nothing_else(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    checked = hub.fetch(BIG, tmp_path, "", _quiet)
    shelf.sends_checksum = False
    unchecked = hub.fetch("tokenizer.json", tmp_path, "", _quiet)
    again = [hub.fetch(path, tmp_path, "", _quiet) for path in (BIG, "tokenizer.json")]
    (tmp_path / BIG).write_bytes(b"damaged since")
    repaired = hub.fetch(BIG, tmp_path, "", _quiet)

    seen = [one and one.checked for one in (checked, unchecked, *again, repaired)]
    assert seen == ["sha256", "", "sha256", "", ""]
    assert (tmp_path / BIG).read_bytes() == shelf.files[BIG]


def test_what_lies_there_unnoted_is_compared_and_not_fetched_again(
    shelf: Shelf, hub: ModelHub, tmp_path: Path
) -> None:
    (tmp_path / BIG).write_bytes(shelf.files[BIG])
    reports: list[str] = []

    found = hub.fetch(BIG, tmp_path, "", lambda path, _done, _total: reports.append(path))

    assert found is not None
    assert (found.checked, reports) == ("sha256", [])
    assert (tmp_path / BIG).read_bytes() == shelf.files[BIG]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "text/plain"])
def test_a_page_is_no_model_and_the_next_command_repairs_it(
    shelf: Shelf, tmp_path: Path, kind: str
) -> None:
    shelf.page = kind
    refused, said = _download(shelf, tmp_path)
    shelf.page = ""
    repaired, answer = _download(shelf, tmp_path)

    assert refused == 1
    assert ("answers with a web page" if "html" in kind else "is not what its name says") in said
    assert (repaired, answer["dimension"]) == (0, 24)


def test_without_checksums_it_is_checked_by_loading_it(shelf: Shelf, tmp_path: Path) -> None:
    shelf.sends_checksum = False

    _, first = _download(shelf, tmp_path)
    _, second = _download(shelf, tmp_path)

    for answer in (first, second):
        assert {one["checked"] for one in answer["files"]} == {"loaded"}
    assert shelf.ranges == [""]


def test_a_model_that_does_not_load_is_not_kept(shelf: Shelf, tmp_path: Path) -> None:
    shelf.sends_checksum = False
    right = shelf.files[BIG]
    shelf.files[BIG] = b"\x08\x07 no model, but it looks like one"
    refused, said = _download(shelf, tmp_path)
    shelf.files[BIG] = right
    repaired, answer = _download(shelf, tmp_path)

    assert refused == 1
    assert "What was downloaded does not work" in said
    assert (repaired, answer["dimension"]) == (0, 24)


def test_where_it_cannot_be_loaded_it_is_called_unchecked(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.sends_checksum = False
    monkeypatch.setattr(
        "plastic_memories.adapters.embedding.onnx._REQUIRED_PACKAGES", ("no_such_package",)
    )

    _, answer = _download(shelf, tmp_path)

    assert answer["dimension"] is None
    assert {one["checked"] for one in answer["files"]} == {""}


def test_prefixes_outlive_the_next_command(shelf: Shelf, tmp_path: Path) -> None:
    shelf.files["config_sentence_transformers.json"] = b'{"prompts": {"query": "old: "}}'

    _download(shelf, tmp_path, "--query-prefix", "问题：")
    _, answer = _download(shelf, tmp_path)

    kept = Path(answer["folder"]) / "config_sentence_transformers.json"
    assert json.loads(kept.read_text(encoding="utf-8"))["prompts"]["query"] == "问题："


PROMPTS = "config_sentence_transformers.json"


def test_prefixes_are_the_users_own_also_where_the_hub_gives_no_checksum(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.sends_checksum = False
    shelf.files[PROMPTS] = b'{"prompts": {"query": "old: "}}'

    _, first = _download(shelf, tmp_path, "--query-prefix", "问题 query：")
    _, again = _download(shelf, tmp_path)

    for answer in (first, again):
        [kept] = [one for one in answer["files"] if one["path"] == PROMPTS]
        file = Path(answer["folder"]) / PROMPTS
        assert (kept["checked"], kept["bytes"]) == ("prefixes", file.stat().st_size)
        assert json.loads(file.read_text(encoding="utf-8"))["prompts"]["query"] == "问题 query："


def test_prefixes_outlive_a_model_that_does_not_load(shelf: Shelf, tmp_path: Path) -> None:
    shelf.sends_checksum = False
    shelf.files |= {PROMPTS: b"{}", BIG: b"no model"}

    code, _ = _download(shelf, tmp_path, "--query-prefix", "问题：")

    [kept] = tmp_path.rglob(PROMPTS)
    assert code == 1
    assert json.loads(kept.read_text(encoding="utf-8"))["prompts"]["query"] == "问题："


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--url", "http://127.0.0.1:1"], 1, "127.0.0.1 cannot be reached"),
        (["--url", "notaurl"], 1, "'notaurl' is not an http(s) address"),
        (["--url", "ftp://127.0.0.1/"], 1, "is not an http(s) address"),
        (["--url", "http://127.0.0.1:port"], 1, "is not an http(s) address"),
        (["--sha256", "zz"], 2, "a SHA-256 has 64 hexadecimal digits"),
    ],
)
def test_what_cannot_work_is_said_at_once(
    shelf: Shelf, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    started = time.monotonic()

    done, output = _download(shelf, tmp_path, *arguments)

    assert (done, said in output) == (code, True), output
    assert time.monotonic() - started < 10


def test_a_hub_that_is_out_of_order_is_named(shelf: Shelf, hub: ModelHub, tmp_path: Path) -> None:
    shelf.status = 503

    with pytest.raises(Unavailable, match="answered with 503 6 times"):
        hub.fetch(BIG, tmp_path, "", _quiet)


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
