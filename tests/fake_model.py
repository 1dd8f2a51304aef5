"""A language model that says what a test tells it to, behind a real HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Says:
    """One answer: its text as a model's, or a body of its own; `hangs` waits for the end."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    usage: Json | None = None
    hangs: bool = False

    @property
    def sent(self) -> bytes:
        if self.body is not None:
            return self.body
        answer: Json = {"choices": [{"message": {"role": "assistant", "content": self.text}}]}
        if self.usage is not None:
            answer["usage"] = self.usage
        return json.dumps(answer).encode()


@dataclass
class FakeModel:
    """What it will say, in order (the last for ever), and what it was asked."""

    url: str = ""
    script: list[Says] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    # Formats the server does not know; it answers them with 400.
    unknown_formats: tuple[str, ...] = ()
    ended: threading.Event = field(default_factory=threading.Event)

    def says(self, *script: Says | str) -> None:
        self.script = [Says(each) if isinstance(each, str) else each for each in script]

    def next_answer(self, body: Json, key: str) -> Says:
        self.asked.append(body)
        self.keys.append(key)
        if body.get("response_format", {}).get("type") in self.unknown_formats:
            return Says(status=400, body=b'{"error": {"message": "unknown response_format"}}')
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """Serve a fake model on a free port of this machine."""
    model = FakeModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = model.next_answer(body, self.headers.get("Authorization", ""))
            if answer.hangs:
                model.ended.wait()
                return
            sent = answer.sent
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(sent)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: the tests look at what was asked."""

        def handle(self) -> None:
            try:
                super().handle()
            except (ConnectionError, BrokenPipeError):
                # The caller would not read on: that is what some tests are about.
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
