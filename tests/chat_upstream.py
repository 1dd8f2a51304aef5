"""A chat model behind the OpenAI API that says what a test tells it to, at once or in a stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass
class Upstream:
    """The reply to everything, and what was asked."""

    url: str = ""
    reply: str = "好的。"
    asked: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    @property
    def last_prompt(self) -> str:
        """All that the model was given the last time, as one text."""
        return json.dumps(self.asked[-1]["messages"], ensure_ascii=False)


@contextmanager
def upstream() -> Iterator[Upstream]:
    """Serve a model on a free port of this machine."""
    model = Upstream()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [{"id": "small"}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append(body)
            model.keys.append(self.headers.get("Authorization", ""))
            if body.get("stream"):
                self._send("text/event-stream", "".join(_stream(model.reply)))
            else:
                message = {"role": "assistant", "content": model.reply}
                self._send("application/json", json.dumps({"choices": [{"message": message}]}))

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: the tests look at what was asked."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _stream(text: str) -> Iterator[str]:
    for part in text:
        delta = {"choices": [{"delta": {"content": part}}]}
        yield f"data: {json.dumps(delta)}\n\n"
    yield "data: [DONE]\n\n"
