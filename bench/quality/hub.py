"""The hub as its callers meet it: through HTTP, one persona for each conversation."""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.quality.conversations import Conversation, Memory, Question
from bench.quality.system import LIMIT, SystemFailed, Took
from bench.server import HEADERS, DidNotStart, Server, StillEmbedding, running

VARIANTS: dict[str, dict[str, str]] = {
    "hub": {},
    "hub-no-embedder": {"EMBEDDER": "none"},
    "hub-keyword": {"RECALL": "keyword"},
}


@dataclass
class HubOverHttp:
    """A running hub."""

    server: Server
    connection: http.client.HTTPConnection
    question_embedding: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def open(self, conversation: Conversation) -> None:
        """Do nothing: a persona exists from the first time it is named."""

    def ingest(self, conversation: Conversation, memories: list[Memory]) -> Took:
        items = [_item(memory) for memory in memories]
        answer, seconds = self._post(
            "/memory/write", {"persona_id": conversation.name, "items": items}
        )
        self.skipped += [one["reason"] for one in answer["skipped"]]
        return Took(seconds)

    def settle(self) -> float:
        return self.server.settle()

    def search(self, conversation: Conversation, question: Question) -> tuple[list[str], Took]:
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
        return keys, Took(seconds, self.question_embedding.get(question.text, 0.0))

    def memory_mb(self) -> float:
        return self.server.memory_mb()

    def embeds(self) -> bool:
        """Tell whether a question is embedded: a hub with the text engine alone does not."""
        parts = self._get("/capabilities")["plugged_in"]
        return parts.get("embedder", "none") != "none" and parts["recall"] != "keyword"

    def _get(self, path: str) -> dict[str, Any]:
        self.connection.request("GET", path, headers=HEADERS)
        return _data(path, self.connection.getresponse().read())

    def _post(self, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], float]:
        payload = json.dumps(body, ensure_ascii=False).encode()
        headers = {**HEADERS, "Content-Type": "application/json"}
        started = time.perf_counter()
        self.connection.request("POST", path, payload, headers)
        raw = self.connection.getresponse().read()
        seconds = time.perf_counter() - started
        return _data(path, raw), seconds


@contextmanager
def running_hub(variant: str) -> Iterator[HubOverHttp]:
    """Run a hub on an empty folder with the settings of a variant."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running(Path(folder), **VARIANTS[variant]) as server:
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
                with closing(connection):
                    yield HubOverHttp(server, connection)
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
    answer = json.loads(raw)
    if not answer["ok"]:
        raise SystemFailed(f"{path}: {answer['error']['code']}: {answer['error']['message']}")
    found: dict[str, Any] = answer["data"]
    return found
