"""An OpenAI-compatible server that says what a test tells it to, streamed or not."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Json = dict[str, Any]
MODELS = b'{"object":"list","data":[{"id":"m1","object":"model"},{"id":"m2","object":"model"}]}'


@dataclass(frozen=True)
class Says:
    """One answer: a text as a model's, or bytes of its own."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    chunks: Sequence[bytes] | None = None  # of a stream
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False  # after what it has sent, for ever
    dies: bool = False  # after what it has sent, without an end
    waits_for: threading.Event | None = None  # before it sends its last chunk


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found

    @property
    def messages(self) -> list[Json]:
        found: list[Json] = self.json["messages"]
        return found


@dataclass
class FakeUpstream:
    """What it will say, in order (the last for ever), and what it was asked."""

    url: str = ""
    script: list[Says] = field(default_factory=lambda: [Says("好的。")])
    # What it says to questions that hold certain bytes, whenever they come.
    by_mark: dict[bytes, Says] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)  # by the first question
    left: threading.Event = field(default_factory=threading.Event)  # a caller would not wait

    def says(self, *script: Says | str) -> None:
        self.script = [Says(each) if isinstance(each, str) else each for each in script]

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def next_answer(self, asked: Asked) -> Says:
        if asked.method == "GET":
            return Says(body=MODELS)
        self.asked.append(asked)
        self.reached.set()
        for mark, answer in self.by_mark.items():
            if mark in asked.body:
                return answer
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def event(content: str, **more: Any) -> bytes:
    """Write one piece of a streamed reply."""
    piece = {"id": "c1", "choices": [{"index": 0, "delta": {"content": content}}], **more}
    return b"data: " + json.dumps(piece, ensure_ascii=False).encode() + b"\n\n"


def streamed(text: str) -> list[bytes]:
    return [*(event(char) for char in text), b"data: [DONE]\n\n"]


def completion(text: str) -> bytes:
    said = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    answer = {"id": "c1", "object": "chat.completion", "model": "m1", "choices": [said]}
    return json.dumps(answer, ensure_ascii=False).encode()


async def _serve(upstream: FakeUpstream, reader: asyncio.StreamReader, writer: Any) -> None:
    try:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await _one(upstream, reader, writer):
                pass
    finally:
        writer.close()
        with suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()


async def _one(upstream: FakeUpstream, reader: asyncio.StreamReader, writer: Any) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    asked = Asked(method, path, headers, body)
    answer = upstream.next_answer(asked)
    chunks = answer.chunks
    if chunks is None and answer.body is None and b'"stream": true' in body.replace(b":t", b": t"):
        chunks = streamed(answer.text)
    if chunks is None:
        return await _whole(upstream, answer, reader, writer)
    return await _stream(upstream, answer, chunks, reader, writer)


async def _whole(
    upstream: FakeUpstream, answer: Says, reader: asyncio.StreamReader, writer: Any
) -> bool:
    if answer.hangs:
        await _until_left(upstream, reader)
        return False
    body = completion(answer.text) if answer.body is None else answer.body
    length = len(body) + (10 if answer.dies else 0)
    own = {"Content-Type": "application/json", "Content-Length": str(length)}
    writer.write(_head(answer, own) + body)
    await writer.drain()
    return not answer.dies


async def _stream(
    upstream: FakeUpstream,
    answer: Says,
    chunks: Sequence[bytes],
    reader: asyncio.StreamReader,
    writer: Any,
) -> bool:
    own = {"Content-Type": "text/event-stream; charset=utf-8", "Transfer-Encoding": "chunked"}
    writer.write(_head(answer, own))
    for place, chunk in enumerate(chunks, start=1):
        if answer.waits_for is not None and place == len(chunks):
            await asyncio.to_thread(answer.waits_for.wait, 20)
        writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        await writer.drain()
    if answer.hangs:
        await _until_left(upstream, reader)
        return False
    if answer.dies:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _head(answer: Says, own: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Said"]
    lines += [f"{name}: {value}" for name, value in {**own, **answer.headers}.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _until_left(upstream: FakeUpstream, reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        await reader.read()
    upstream.left.set()


@contextmanager
def fake_upstream() -> Iterator[FakeUpstream]:
    """Serve on a free port of this machine, in a thread with a loop of its own."""
    upstream = FakeUpstream()
    ready = threading.Event()
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        done = asyncio.Event()
        stop.append(partial(asyncio.get_running_loop().call_soon_threadsafe, done.set))
        server = await asyncio.start_server(partial(_serve, upstream), "127.0.0.1", 0, backlog=512)
        upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await done.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield upstream
    finally:
        stop[0]()
        thread.join(10)
