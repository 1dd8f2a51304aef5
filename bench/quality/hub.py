"""The hub as a measured system: over HTTP, one persona for each conversation."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load import Connection, request_bytes
from bench.quality.conversations import Conversation, Memory, Question
from bench.quality.system import LIMIT, CallTime, SystemFailed
from bench.server import HEADERS, DidNotStart, Server, StillEmbedding, cpu_seconds, running

_NOBODY = "nobody"
VARIANTS: dict[str, dict[str, str]] = {
    "hub": {},
    "hub-no-embedder": {"EMBEDDER": "none"},
    "hub-keyword": {"RECALL": "keyword"},
}


@dataclass
class HubOverHttp:
    """A running hub."""

    server: Server
    connection: Connection
    skipped: list[str] = field(default_factory=list)

    def open(self, conversation: Conversation) -> None:
        """Do nothing: a persona is created when it is first named."""

    def ingest(self, conversation: Conversation, memories: list[Memory]) -> CallTime:
        items = [_item(memory) for memory in memories]
        answer, seconds = self._post(
            "/memory/write", {"persona_id": conversation.name, "items": items}
        )
        self.skipped += [one["reason"] for one in answer["skipped"]]
        return CallTime(seconds)

    def wait_until_ready(self) -> float:
        seconds = self.server.wait_until_ready() if self._embedder() != "none" else 0.0
        # The server closes a connection that was idle for some seconds.
        self.close()
        self.connection = Connection(self.server.port)
        return seconds

    def close(self) -> None:
        self.connection.close()

    def embed_questions(self, conversation: Conversation) -> bool:
        """Query an empty persona with each question, so that the hub caches its vector."""
        for question in conversation.questions:
            self._post("/memory/recall", {"persona_id": _NOBODY, "query": question.text})
        return self.embeds()

    def search(self, conversation: Conversation, question: Question) -> tuple[list[str], CallTime]:
        body: dict[str, Any] = {
            "persona_id": conversation.name,
            "query": question.text,
            "limit": LIMIT,
        }
        now = question.asked_at if question.asked_at is not None else conversation.last_at
        if now is not None:
            body["now"] = now
        answer, seconds = self._post("/memory/recall", body)
        keys = [row["key"] for row in answer["PERSONA_MEMORY"]]
        return keys, CallTime(seconds)

    def memory_mb(self) -> float:
        return self.server.memory_mb()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.server.pid)

    def embeds(self) -> bool:
        """Return whether questions are embedded: a hub with text search only does not."""
        recall = self.server.get("/capabilities")["plugged_in"]["recall"]
        return self._embedder() != "none" and recall != "keyword"

    def _embedder(self) -> str:
        return str(self.server.get("/capabilities")["plugged_in"].get("embedder", "none"))

    def _post(self, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], float]:
        try:
            raw, seconds = self.connection.post(request_bytes(path, body, HEADERS))
        except OSError as error:
            raise SystemFailed(f"{path}: {error!r}") from error
        return _data(path, raw), seconds


@contextmanager
def running_hub(variant: str) -> Iterator[HubOverHttp]:
    """Run a hub on an empty folder with the settings of a variant."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running(Path(folder), **VARIANTS[variant]) as server:
                # The embedder alone is measured when loaded, and so is the hub's.
                server.wait_until_ready()
                with closing(HubOverHttp(server, Connection(server.port))) as hub:
                    yield hub
        except DidNotStart as error:
            raise SystemFailed(f"this hub does not start with {VARIANTS[variant]}") from error
        except StillEmbedding as error:
            raise SystemFailed(str(error)) from error


def _item(memory: Memory) -> dict[str, Any]:
    given = {
        "type": "note",
        "key": memory.id,
        "content": memory.text,
        "source_type": "imported",
        "session_id": memory.session,
        "speaker": memory.speaker,
        "occurred_at": memory.at,
    }
    return {name: value for name, value in given.items() if value is not None}


def _data(path: str, raw: bytes) -> dict[str, Any]:
    answer = json.loads(raw or b'{"ok": false, "error": {"code": "none", "message": "no answer"}}')
    if not answer["ok"]:
        raise SystemFailed(f"{path}: {answer['error']['code']}: {answer['error']['message']}")
    found: dict[str, Any] = answer["data"]
    return found
