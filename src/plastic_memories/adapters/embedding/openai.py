"""Embedder for any OpenAI-compatible /v1/embeddings endpoint, local or remote."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import httpx
import numpy as np

from plastic_memories.adapters.embedding.options import EmbeddingOptions
from plastic_memories.adapters.embedding.texts import truncate_for_model
from plastic_memories.errors import InvalidInput, InvalidSetting, Unavailable
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, Purpose, Vectors
from plastic_memories.rules.ranking.vector_codec import normalise_rows

_BATCH_SIZE = 64
# Fits the context of the usual models, even if every character is a token.
_MAX_CHARS = 6000
_MAX_TRIES = 3
_FIRST_DELAY_S = 0.5
_MAX_DELAY_S = 10.0
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# The request is understood, but this text is refused: a retry changes nothing.
_REFUSED_STATUSES = frozenset({400, 413, 422})


class OpenAIEmbedder:
    """Sends batches, retries transient failures, and reports the others."""

    def __init__(
        self, client: httpx.Client, model: str, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._asked_model = model
        self._wait = wait
        self.model = _model_name(client.base_url, model)
        self.dimension = 0
        self.dimension = int(self.embed(["."], purpose="passage").shape[1])

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        # A person waits for a query: recall continues without a vector instead of a retry.
        tries = 1 if purpose == "query" else _MAX_TRIES
        rows = [
            self._request_vectors(texts[start : start + _BATCH_SIZE], tries)
            for start in range(0, len(texts), _BATCH_SIZE)
        ]
        if not rows:
            return np.empty((0, self.dimension), dtype=np.float32)
        return normalise_rows(np.concatenate(rows))

    def _request_vectors(self, texts: Sequence[str], tries: int) -> Vectors:
        waits = _backoff_delays(tries)
        while True:
            try:
                answer = self._client.post(
                    "embeddings",
                    json={
                        "model": self._asked_model,
                        "input": [truncate_for_model(text, _MAX_CHARS) or " " for text in texts],
                        "encoding_format": "float",
                    },
                )
                problem = _retryable_problem(answer)
            except httpx.HTTPError as error:
                answer, problem = None, f"did not answer ({type(error).__name__})"
            if not problem:
                assert answer is not None
                return self._parse_vectors(answer, len(texts))
            wait = next(waits, None)
            if wait is None:
                raise Unavailable(f"The embedding endpoint {problem}.")
            self._wait(_retry_delay(answer, wait))

    def _parse_vectors(self, answer: httpx.Response, wanted: int) -> Vectors:
        try:
            items = sorted(answer.json()["data"], key=lambda item: int(item["index"]))
            rows = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unavailable("The embedding endpoint sent something unreadable.") from error
        if rows.ndim != 2 or len(rows) != wanted:  # noqa: PLR2004 - texts × dimension
            raise Unavailable("The embedding endpoint did not send one vector for each text.")
        if self.dimension and rows.shape[1] != self.dimension:
            raise Unavailable("The embedding endpoint changed the length of its vectors.")
        return rows


def openai(options: EmbeddingOptions) -> EmbedderChoice:
    """Choose the endpoint of EMBEDDER_BASE_URL."""
    for name in ("base_url", "model"):
        if not getattr(options, f"embedder_{name}"):
            raise InvalidSetting(
                f"PLASTIC_MEMORIES_EMBEDDER=openai needs PLASTIC_MEMORIES_EMBEDDER_{name.upper()}."
            )
    url = _checked_url(options.embedder_base_url)
    opened: list[httpx.Client] = []

    def load() -> Embedder:
        if not opened:
            opened.append(_open_client(url, options))
        return OpenAIEmbedder(opened[0], options.embedder_model)

    def close() -> None:
        for client in opened:
            client.close()

    why, model = f"EMBEDDER=openai, at {url.host}", _model_name(url, options.embedder_model)
    return EmbedderChoice("openai", why, load, close, model)


def _model_name(url: httpx.URL, model: str) -> str:
    return f"openai/{url.netloc.decode()}/{model}"


def _open_client(url: httpx.URL, options: EmbeddingOptions) -> httpx.Client:
    key = options.embedder_api_key
    return httpx.Client(
        base_url=url,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx.Timeout(options.embedder_timeout_s),
    )


def _checked_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text.rstrip("/") + "/")
    except httpx.InvalidURL as error:
        raise InvalidSetting(f"PLASTIC_MEMORIES_EMBEDDER_BASE_URL: {error}.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSetting("PLASTIC_MEMORIES_EMBEDDER_BASE_URL: not an http(s) address.")
    return url


def _retryable_problem(answer: httpx.Response) -> str:
    """Return the problem of an answer if a retry may help, '' if none; raise for others."""
    status = answer.status_code
    if status in _TRANSIENT_STATUSES:
        return f"answered {status}"
    if status in _REFUSED_STATUSES:
        raise InvalidInput(f"The embedding endpoint refused the text ({status}).")
    if not answer.is_success:
        advice = {
            401: "; see EMBEDDER_API_KEY",
            403: "; see EMBEDDER_API_KEY",
            404: "; see EMBEDDER_BASE_URL and EMBEDDER_MODEL",
        }
        raise Unavailable(f"The embedding endpoint answered {status}{advice.get(status, '')}.")
    return ""


def _backoff_delays(tries: int) -> Iterator[float]:
    for attempt in range(tries - 1):
        yield min(_FIRST_DELAY_S * 2**attempt, _MAX_DELAY_S)


def _retry_delay(answer: httpx.Response | None, wait: float) -> float:
    """Return the delay: the endpoint's Retry-After up to a limit, or else our own backoff."""
    header = answer.headers.get("retry-after", "") if answer is not None else ""
    return min(float(header), _MAX_DELAY_S) if header.isdigit() else wait
