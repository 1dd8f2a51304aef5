"""ONNX sentence-embedding model from a folder: onnxruntime and tokenizers, no torch."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.embedding.model_folder import ModelFolder, read_model_folder
from plastic_memories.adapters.embedding.options import EmbeddingOptions
from plastic_memories.adapters.embedding.texts import truncate_for_model
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, Purpose, Vectors
from plastic_memories.rules.ranking.vector_codec import normalise_rows

_NAME = re.compile(r"\A[\w-][\w.-]*/[\w-][\w.-]*")
_REQUIRED_PACKAGES = ("onnxruntime", "tokenizers")
# Texts per model run; more gain nothing on a CPU.
_BATCH_SIZE = 16
# More than any model reads; the tokenizer cuts at the model's own length.
_MAX_CHARS = 8000
Tokens = NDArray[np.int64]


class OnnxEmbedder:
    """A session is thread-safe, and releases the interpreter lock while it runs."""

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._folder = folder
        self._tokenizer = _open_tokenizer(folder)
        self._session = _open_session(folder, threads)
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self.model = f"onnx/{folder.path.name}/{_fingerprint(folder)}"
        self.dimension = int(self._run(["."]).shape[1])

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        prefix = self._folder.prefixes.get(purpose, "")
        # Texts of similar length share a batch: less padding to compute.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), _BATCH_SIZE):
            batch = order[start : start + _BATCH_SIZE]
            rows[batch] = self._run(
                [prefix + truncate_for_model(texts[index], _MAX_CHARS) for index in batch]
            )
        return normalise_rows(rows)

    def _run(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = _pad_rows([encoding.ids for encoding in encoded], self._folder.pad_token)
        mask = _pad_rows([[1] * len(encoding.ids) for encoding in encoded], 0)
        type_ids = _pad_rows([encoding.type_ids for encoding in encoded], 0)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": type_ids}
        try:
            [states] = self._session.run(
                [self._output], {name: inputs[name] for name in self._inputs}
            )
        # The library's own exception classes have no other common base.
        except Exception as error:
            raise Unavailable(f"The model cannot be run: {type(error).__name__}.") from error
        return _pool(states, mask, self._folder.pooling)


def onnx(options: EmbeddingOptions) -> EmbedderChoice:
    """Choose the model whose folder or name EMBEDDER_MODEL gives."""
    missing = missing_packages()
    if missing:
        raise InvalidSetting(f"PLASTIC_MEMORIES_EMBEDDER=onnx needs {missing}")
    folder = read_model_folder(model_path(options))
    why = f"EMBEDDER=onnx, from {folder.path}"

    def load() -> Embedder:
        return OnnxEmbedder(folder, options.embedder_threads)

    return EmbedderChoice("onnx", why, load, is_in_process=True)


def missing_packages() -> str:
    """Return which packages are missing and how to install them; empty if none is."""
    missing = [name for name in _REQUIRED_PACKAGES if find_spec(name) is None]
    return f"{' and '.join(missing)}: pip install '.[onnx]' in its source folder" if missing else ""


def model_path(options: EmbeddingOptions) -> Path:
    """Return the folder of EMBEDDER_MODEL; raise `InvalidSetting` if there is none."""
    name = options.embedder_model
    if not name:
        raise InvalidSetting(
            "PLASTIC_MEMORIES_EMBEDDER=onnx needs PLASTIC_MEMORIES_EMBEDDER_MODEL: "
            "a folder, or the name of a model that was downloaded."
        )
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    downloaded = downloaded_model_path(options.data_dir, name) if _NAME.fullmatch(name) else None
    if downloaded is None:
        raise InvalidSetting(f"PLASTIC_MEMORIES_EMBEDDER_MODEL: there is no folder {name}.")
    if not downloaded.is_dir():
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_EMBEDDER_MODEL: {name} is not here yet. "
            f"Run: plastic-memories embedder download {name}"
        )
    return downloaded


def downloaded_model_path(data_dir: Path, name: str) -> Path:
    """Return the folder of a downloaded model; raise `InvalidSetting` for an invalid name."""
    if not _NAME.fullmatch(name):
        raise InvalidSetting(f"{name!r} is not of the form owner/model.")
    return data_dir / "models" / name.replace("/", "--")


def _open_tokenizer(folder: ModelFolder) -> Any:
    library = import_module("tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(folder.tokenizer))
    # The library raises a bare Exception for anything wrong with the file.
    except Exception as error:
        raise Unavailable(f"{folder.tokenizer} cannot be read.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(folder.max_tokens)
    return tokenizer


def _open_session(folder: ModelFolder, threads: int) -> Any:
    library = import_module("onnxruntime")
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return library.InferenceSession(
            str(folder.model_file), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise Unavailable(f"{folder.model_file} cannot be loaded.") from error


def _fingerprint(folder: ModelFolder) -> str:
    """Return a hash that changes when the vectors would: of the weights and of their use."""
    digest = hashlib.sha256(repr((folder.pooling, folder.max_tokens, folder.prefixes)).encode())
    with folder.model_file.open("rb") as opened:
        digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:16]


def _pad_rows(rows: Sequence[Sequence[int]], fill: int) -> Tokens:
    width = max(1, *(len(row) for row in rows)) if rows else 1
    table = np.full((len(rows), width), fill, dtype=np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table


def _pool(states: NDArray[np.float32], mask: Tokens, pooling: str) -> Vectors:
    """Pool the token states of each text into one vector, unless the model already did."""
    if states.ndim == 2:  # noqa: PLR2004 - texts × dimension
        return states.astype(np.float32)
    if pooling == "cls":
        return states[:, 0].astype(np.float32)
    weights = mask[:, :, None].astype(np.float32)
    counted = np.maximum(weights.sum(axis=1), 1.0)
    return np.asarray((states * weights).sum(axis=1) / counted, dtype=np.float32)
