"""LlamaIndex: a VectorStoreIndex with its default store for each conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from pydantic import PrivateAttr

from bench.peers.embedding import SharedEmbedder


class _Embedding(BaseEmbedding):
    _embedder: Any = PrivateAttr()

    def __init__(self, embedder: SharedEmbedder) -> None:
        super().__init__(model_name="shared", embed_batch_size=500)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.encode(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Peer:
    def __init__(self, embedder: SharedEmbedder, folder: Path) -> None:
        self._embedding = _Embedding(embedder)
        self._indexes: dict[str, VectorStoreIndex] = {}

    def open(self, conversation: str) -> None:
        self._indexes[conversation] = VectorStoreIndex([], embed_model=self._embedding)

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        nodes = [TextNode(id_=memory["id"], text=memory["text"]) for memory in memories]
        self._indexes[conversation].insert_nodes(nodes)

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        retriever = self._indexes[conversation].as_retriever(similarity_top_k=limit)
        return [found.node.node_id for found in retriever.retrieve(question)]
