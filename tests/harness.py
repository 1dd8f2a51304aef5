"""Callers of a hub, and servers to call: what the tests stand on."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from plastic_memories.hub.hub import Hub
from warm_server import started

BASE_URL = "http://127.0.0.1:8007"
# The keys of contract section 15, and one application of another tenant.
API_KEYS = "devkey:userA,devkey2:userB,appkey:*,acmekey:acme/*"
Json = dict[str, Any]


@dataclass
class StillClock:
    """Time that passes only when a test says so."""

    at: float = 1_750_000_000.0

    def now(self) -> float:
        return self.at


@dataclass(frozen=True)
class Api:
    """One caller. Every answer it gets must be in the envelope, or it fails its test."""

    http: httpx.AsyncClient
    hub: Hub | None = None
    key: str | None = "devkey"
    user: str | None = None
    persona: str = "p1"
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_(self, key: str | None, user: str | None = None) -> Api:
        return replace(self, key=key, user=user)

    def of(self, persona: str) -> Api:
        return replace(self, persona=persona)

    @property
    def all_headers(self) -> dict[str, str | bytes]:
        mine: dict[str, str | bytes] = dict(self.headers)
        if self.key is not None:
            mine["X-API-Key"] = self.key
        if self.user is not None:
            mine["X-User-Id"] = self.user.encode()  # a header is bytes; Chinese names are UTF-8
        return mine

    async def post(self, path: str, **body: Any) -> httpx.Response:
        sent = {"persona_id": self.persona, **body}
        return enveloped(await self.http.post(path, json=sent, headers=self.all_headers))

    async def get(self, path: str, **params: Any) -> httpx.Response:
        sent = {"persona_id": self.persona, **params}
        given = {name: value for name, value in sent.items() if value is not None}
        return enveloped(await self.http.get(path, params=given, headers=self.all_headers))

    async def did(self, path: str, **body: Any) -> Json:
        """Post, and return the data of the success."""
        return data_of(await self.post(path, **body))

    async def saw(self, path: str, **params: Any) -> Json:
        """Get, and return the data of the success."""
        return data_of(await self.get(path, **params))

    async def remember(self, content: str, type: str = "fact", key: str = "k", **more: Any) -> int:  # noqa: A002
        written = await self.did("/memory/write", type=type, key=key, content=content, **more)
        return int(written["memory_id"])

    async def confirmed(self, content: str, type: str, key: str = "k", **more: Any) -> int:  # noqa: A002
        memory_id = await self.remember(content, type, key)
        await self.did("/memory/confirm", memory_id=memory_id, **more)
        return memory_id

    async def status_of(self, memory_id: int, **more: Any) -> str:
        return str((await self.saw("/memory/get", memory_id=memory_id, **more))["status"])

    async def listed(self, status: str = "active", **more: Any) -> list[str]:
        page = await self.saw("/memory/list", status=status, **more)
        return [row["content"] for row in page["items"]]

    async def recall(self, query: str = "", **more: Any) -> Json:
        return await self.did("/memory/recall", query=query, **more)

    async def recalled(self, query: str, **more: Any) -> list[str]:
        found = await self.recall(query, **more)
        return [row["content"] for row in found["PERSONA_MEMORY"]]

    async def slots(self, **more: Any) -> dict[str, Any]:
        found = await self.did("/persona/slots/get", **more)
        return {slot["slot_name"]: slot["value"] for slot in found["items"]}

    async def say(self, content: str, **more: Any) -> int:
        said = await self.did("/messages/append", role="user", content=content, **more)
        return int(said["message_id"])

    async def learn(self, *sentences: str, **more: Any) -> Json:
        messages = [{"role": "user", "content": sentence} for sentence in sentences]
        return await self.did("/memory/write", messages=messages, **more)

    async def export(self, kind: str = "jsonl") -> bytes:
        answer = await self.http.get("/export", params={"format": kind}, headers=self.all_headers)
        assert answer.status_code == 200, answer.text
        return answer.content

    async def bring_in(self, body: bytes | str, **params: Any) -> httpx.Response:
        content = body.encode() if isinstance(body, str) else body
        return enveloped(
            await self.http.post(
                "/import", content=content, params=params, headers=self.all_headers
            )
        )


def enveloped(answer: httpx.Response) -> httpx.Response:
    """Check the shape every native answer has, and hand it on."""
    body = answer.json()
    assert body["request_id"] == answer.headers["X-Request-Id"]
    assert body["ok"] is (answer.status_code < 400), answer.text
    if not body["ok"]:
        assert set(body["error"]) == {"code", "message", "detail"}
        assert body["error"]["message"]
    return answer


def data_of(answer: httpx.Response) -> Json:
    assert answer.status_code == 200, answer.text
    data: Json = answer.json()["data"]
    return data


def refused(answer: httpx.Response, status: int, code: str) -> Any:
    """Check a refusal; return its detail."""
    error = answer.json().get("error", {})
    assert (answer.status_code, error.get("code")) == (status, code), answer.text
    return error["detail"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the settings of a hub that lives in one folder, as environment variables."""
    own = {
        "DATA_DIR": str(folder),
        "DB_PATH": str(folder / "hub.db"),
        "API_KEYS": API_KEYS,
        # Loading a model for each of many hubs would take longer than all else together.
        "EMBEDDER": "none",
    }
    given = {**own, **{name.upper(): value for name, value in more.items()}}
    return {f"PLASTIC_MEMORIES_{name}": value for name, value in given.items()}


def _listen(port: int = 0) -> socket.socket:
    listener = socket.create_server(("127.0.0.1", port), backlog=256)
    listener.set_inheritable(True)
    return listener


@dataclass
class Server:
    """A real server process on a port of its own.

    The port is opened here and handed down, so that a client can call before the server has
    started, and between its death and its next start: the call waits, nobody has to poll.
    """

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    listener: socket.socket = field(default_factory=_listen)
    process: BaseProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    @property
    def output(self) -> Path:
        return self.folder / "output.txt"

    def start(self) -> Server:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PLASTIC_")}
        env = {**inherited, **environment(self.folder, **self.settings)}
        self.process = started(env, self.listener, self.output)
        return self

    def kill(self) -> None:
        """End it as a power cut would; callers that still wait in line are sent away."""
        assert self.process is not None
        self.process.kill()
        self.process.join()
        port = self.listener.getsockname()[1]
        self.listener.close()
        self.listener = _listen(port)

    def stop(self) -> bool:
        """Ask it to end; say whether it did so in order."""
        assert self.process is not None
        self.process.terminate()
        self.process.join(timeout=20)
        return self.process.exitcode in (0, -signal.SIGTERM)

    def close(self) -> None:
        if self.process is not None and self.process.is_alive():
            self.kill()
        self.listener.close()


StartHub = Callable[..., Any]
StartServer = Callable[..., Server]
