"""Real parts for tests of embedders: a tiny ONNX model, and an endpoint on this machine."""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from harness import Api
from plastic_memories.rules.ranking.vector_codec import normalise_rows

_VOCABULARY = 256


def write_model(folder: Path, dimension: int = 24, seed: int = 7) -> Path:
    """Write a model that looks up a random vector for each byte, with a real tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_lookup(dimension, seed), str(folder / "model.onnx"))
    _byte_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def _lookup(dimension: int, seed: int) -> onnx.ModelProto:
    table = np.random.default_rng(seed).normal(size=(_VOCABULARY + 2, dimension))
    shape = ["texts", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"], axis=0)],
        "lookup",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, shape),
        ],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, [*shape, dimension]
            )
        ],
        [numpy_helper.from_array(table.astype(np.float32), "table")],
    )
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def _byte_tokenizer() -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    vocabulary |= {"<s>": _VOCABULARY, "</s>": _VOCABULARY + 1}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[("<s>", _VOCABULARY), ("</s>", _VOCABULARY + 1)],
    )
    return tokenizer


def hashed(texts: Sequence[str], dimension: int = 64) -> NDArray[np.float32]:
    """Return vectors that are near when texts share letters: quick, and always the same."""
    rows = np.zeros((len(texts), dimension), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for letter in f"^{text}":
            row[zlib.crc32(letter.encode("utf-8", "replace")) % dimension] += 1
    return normalise_rows(rows)


@dataclass(frozen=True)
class Asked:
    """One request that reached a server of these tests."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


class LocalServer:
    """An HTTP server on this machine that answers as a test tells it to."""

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.url = ""

    def handle(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.answer(asked)


@contextmanager
def serving(server: LocalServer) -> Iterator[LocalServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            sent = {name.lower(): value for name, value in self.headers.items()}
            reply = server.handle(Asked(self.path, sent, json.loads(body)))
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def well_behaved(asked: Asked) -> Reply:
    """Answer as OpenAI does, in an order of its own."""
    rows = hashed(asked.body["input"])
    data = [{"index": number, "embedding": row.tolist()} for number, row in enumerate(rows)]
    return Reply(body={"object": "list", "data": data[::-1], "model": asked.body["model"]})


def about(topics: Sequence[Sequence[str]]) -> Callable[[Asked], Reply]:
    """Answer like a model that knows which words belong together, and nothing else."""

    def vector(text: str) -> list[float]:
        told = [float(any(word in text for word in words)) for words in topics]
        return [*told, 0.0 if any(told) else 1.0]

    def answer(asked: Asked) -> Reply:
        data = [
            {"index": number, "embedding": vector(text)}
            for number, text in enumerate(asked.body["input"])
        ]
        return Reply(body={"object": "list", "data": data, "model": asked.body["model"]})

    return answer


async def embedded(api: Api) -> None:
    """Wait until every memory has its vector."""
    async with asyncio.timeout(30):
        while True:
            health = await api.saw("/health")
            ready = health["components"]["embedder"]["status"] == "ready"
            if ready and health["embedding_backlog"] == 0:
                return
            await asyncio.sleep(0.01)
