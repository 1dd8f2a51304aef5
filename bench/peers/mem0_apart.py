"""mem0 with one store for each conversation: not its usual setup, but its best case."""

from __future__ import annotations

from bench.peers import mem0


class Peer(mem0.Peer):
    def store_name(self, conversation: str) -> str:
        return conversation
