"""Read the configuration of a folder with a sentence-embedding model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from plastic_memories.errors import InvalidSetting

# The smaller one first: on a CPU the quantised model is faster and nearly as good.
MODEL_FILES = (
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model.onnx",
    "onnx/model.onnx",
)
TOKENIZER = "tokenizer.json"
PROMPTS = "config_sentence_transformers.json"
_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class ModelFolder:
    path: Path
    model_file: Path
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int = _MAX_TOKENS
    pad_token: int = 0
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def tokenizer(self) -> Path:
        return self.path / TOKENIZER


def read_model_folder(path: Path) -> ModelFolder:
    """Read the configuration of a model folder; raise `InvalidSetting` if a file is missing."""
    found = [path / name for name in MODEL_FILES if (path / name).is_file()]
    if not found or not (path / TOKENIZER).is_file():
        missing = TOKENIZER if found else "model.onnx"
        raise InvalidSetting(f"PLASTIC_MEMORIES_EMBEDDER_MODEL: {path} has no {missing}.")
    config = _read_json(path / "config.json")
    pooling = _read_json(path / "1_Pooling" / "config.json")
    return ModelFolder(
        path=path,
        model_file=found[0],
        pooling="cls" if pooling.get("pooling_mode_cls_token") else "mean",
        max_tokens=_max_tokens(path, config),
        pad_token=int(config.get("pad_token_id") or 0),
        prefixes=_prefixes(_read_json(path / PROMPTS)),
    )


def _max_tokens(path: Path, config: Mapping[str, Any]) -> int:
    limits = [
        _read_json(path / "sentence_bert_config.json").get("max_seq_length"),
        _read_json(path / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ]
    sizes = [int(size) for size in limits if isinstance(size, int | float) and size > 0]
    return min([*sizes, _MAX_TOKENS])


def _prefixes(settings: Mapping[str, Any]) -> dict[str, str]:
    prompts = settings.get("prompts")
    if not isinstance(prompts, dict):
        return {}
    passage = prompts.get("passage") or prompts.get("document") or ""
    return {"query": str(prompts.get("query") or ""), "passage": str(passage)}


def _read_json(file: Path) -> Mapping[str, Any]:
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"{file} cannot be read: {error}.") from error
    return found if isinstance(found, dict) else {}
