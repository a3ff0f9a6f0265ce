"""Settings and profiles: the seed's constants, what the environment overrides, what is refused."""

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.profiles import Models, resolve_models
from qindex_pipeline.settings import Settings, unknown_variables
from qindex_pipeline_tests.conftest import CLOSED, MakeSettings
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer

CONSTANTS: dict[str, Callable[[Settings, Models], object]] = {
    "COLLECTION_NAME": lambda _, models: models.collection_name,
    "EMBED_DIM": lambda _, models: models.embed_dim,
    "CHUNK_SIZE": lambda settings, _: settings.chunk_size,
    "CHUNK_OVERLAP": lambda settings, _: settings.chunk_overlap,
    "TOP_K": lambda settings, _: settings.top_k,
    "CONFIDENCE_THRESHOLD": lambda _, models: models.confidence_threshold,
}
"""The seed's constants by name, and where a run reads each."""

DEFAULTS = {
    "api": ("qindex_docs_v1", 1536, 500, 100, 3, 0.60),
    "local": ("qindex_local_v1", 768, 500, 100, 3, 0.60),
    "offline": ("qindex_offline_v1", 384, 500, 100, 3, 0.40),
}

MODELS = {
    "api": (
        "anthropic:claude-haiku-4-5-20251001",
        "openai:text-embedding-3-small",
        "anthropic:claude-haiku-4-5-20251001",
    ),
    "local": ("ollama:qwen2.5:14b", "ollama:nomic-embed-text", "ollama:qwen2.5:14b"),
    "offline": ("rules", "minilm", "extract"),
}

KEYS = {"OPENAI_API_KEY": "key-o", "ANTHROPIC_API_KEY": "key-a"}


def models_of(models: Models) -> tuple[str, str, str]:
    return models.generator, models.embedder, models.answerer


@pytest.mark.parametrize("profile", DEFAULTS)
def test_each_profile_has_the_seeds_constants_as_defaults(
    profile: str, settings: MakeSettings
) -> None:
    made = settings(QINDEX_PROFILE=profile)
    models = resolve_models(made)
    found = {name: read(made, models) for name, read in CONSTANTS.items()}
    assert found == dict(zip(CONSTANTS, DEFAULTS[profile], strict=True))
    assert models_of(models) == MODELS[profile]


@pytest.mark.parametrize("profile", DEFAULTS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COLLECTION_NAME", "team_docs"),
        ("EMBED_DIM", 256),
        ("CHUNK_SIZE", 800),
        ("CHUNK_OVERLAP", 0),
        ("TOP_K", 7),
        ("CONFIDENCE_THRESHOLD", 0.25),
    ],
)
def test_each_constant_is_read_from_its_variable(
    name: str, value: object, profile: str, settings: MakeSettings
) -> None:
    made = settings(**{"QINDEX_PROFILE": profile, f"QINDEX_{name}": value})
    assert CONSTANTS[name](made, resolve_models(made)) == value


def test_an_empty_variable_is_no_value(settings: MakeSettings) -> None:
    made = settings(QINDEX_TOP_K="", QINDEX_EMBED_DIM="", QINDEX_PROFILE="")
    assert (made.top_k, made.embed_dim, made.profile) == (3, None, "auto")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QINDEX_PROFILE", "cloud"),
        ("QINDEX_EMBED_DIM", "0"),
        ("QINDEX_CHUNK_SIZE", "many"),
        ("QINDEX_CHUNK_SIZE", "3"),
        ("QINDEX_CHUNK_OVERLAP", "-1"),
        ("QINDEX_TOP_K", "0"),
        ("QINDEX_CONFIDENCE_THRESHOLD", "60"),
        ("QINDEX_CONFIDENCE_THRESHOLD", "nan"),
        ("QINDEX_LLM_CONCURRENCY", "0"),
        ("QINDEX_LLM_TIMEOUT", "0"),
    ],
)
def test_a_bad_value_names_its_variable(name: str, value: str, settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match=f"^{name}='{value}': ") as refused:
        settings(**{name: value})
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value)


def test_an_object_store_needs_a_qdrant_server(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match=r"QINDEX_DATA=s3://bucket/qindex .*QDRANT_URL") as refused:
        settings(QINDEX_DATA="s3://bucket/qindex")
    assert refused.value.exit_code == 2
    made = settings(QINDEX_DATA="s3://bucket/qindex", QDRANT_URL="http://qdrant:6333")
    assert made.state_dir == Path("data/state")


def test_state_lies_in_the_data_folder_unless_it_is_named(
    settings: MakeSettings, tmp_path: Path
) -> None:
    assert settings().state_dir == tmp_path / "data" / "state"
    assert settings(QINDEX_STATE=tmp_path / "own").state_dir == tmp_path / "own"


def test_keys_are_not_printed(settings: MakeSettings) -> None:
    made = settings(**KEYS, QDRANT_API_KEY="key-q")
    assert not any(key in repr(made) for key in (*KEYS.values(), "key-q"))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("QINDEX_TOPK", "QINDEX_TOPK is not a setting; QINDEX_TOP_K?"),
        ("QINDEX_GENERATR", "QINDEX_GENERATR is not a setting; QINDEX_GENERATOR?"),
        ("QINDEX_ANOTHER_TOOLS_VARIABLE", "QINDEX_ANOTHER_TOOLS_VARIABLE is not a setting"),
    ],
)
def test_an_unknown_variable_is_told_with_the_nearest_known_one(name: str, line: str) -> None:
    assert unknown_variables({name: "1", "QINDEX_TOP_K": "3", "PATH": "/bin"}) == [line]


def test_every_setting_is_a_known_variable() -> None:
    read = ["PROFILE", "DATA", "STATE", "SITES", "CHUNK_SIZE", "OLLAMA_URL", "ANTHROPIC_BASE_URL"]
    of_tests = ["SHARED", "CHROMIUM"]
    assert unknown_variables({f"QINDEX_{name}": "x" for name in (*read, *of_tests)}) == []


@pytest.mark.parametrize(
    "name",
    [
        "QINDEX_OPENAI_API_KEY",
        "QINDEX_ANTHROPIC_API_KEY",
        "QINDEX_QDRANT_URL",
        "QINDEX_QDRANT_API_KEY",
    ],
)
def test_a_shared_variable_under_our_prefix_is_read_or_told_to_be_unknown(
    name: str, settings: MakeSettings
) -> None:
    made = settings(**{name: "key-x"})
    is_read = getattr(made, name.removeprefix("QINDEX_").lower()) is not None
    assert is_read or [line for line in unknown_variables({name: "key-x"}) if name in line]


def test_auto_takes_api_when_both_keys_are_set(settings: MakeSettings) -> None:
    with OllamaServer() as ollama:
        models = resolve_models(settings(**KEYS, QINDEX_OLLAMA_URL=ollama.url))
    assert models.profile == "api"
    assert models.line.startswith("profile api (OPENAI_API_KEY and ANTHROPIC_API_KEY are set): ")
    assert all(name in models.line for name in MODELS["api"])


@pytest.mark.parametrize("key", KEYS)
def test_auto_needs_both_keys(key: str, settings: MakeSettings) -> None:
    assert resolve_models(settings(**{key: "key"})).profile == "offline"


def test_auto_takes_local_when_ollama_answers(settings: MakeSettings) -> None:
    with OllamaServer() as ollama:
        models = resolve_models(settings(QINDEX_OLLAMA_URL=ollama.url))
        assert models.line.startswith(f"profile local (Ollama answers at {ollama.url}): ")
    assert models_of(models) == MODELS["local"]
    assert "rules" not in models.line


def test_auto_takes_offline_otherwise_and_says_how_to_use_a_model(settings: MakeSettings) -> None:
    models = resolve_models(settings(QINDEX_OLLAMA_URL=CLOSED))
    assert models.line.startswith("profile offline (no pair of keys and no Ollama found): ")
    assert "questions come from rules" in models.line
    assert "OPENAI_API_KEY and ANTHROPIC_API_KEY, or start Ollama" in models.line
    assert not models.named


@contextmanager
def listening(answer: bytes) -> Generator[str]:
    """Something else than Ollama on a port: it answers one connection with `answer`."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"],
    ids=["hangs-up", "no-http", "404"],
)
def test_auto_takes_offline_when_something_else_has_ollamas_port(
    answer: bytes, settings: MakeSettings
) -> None:
    with listening(answer) as url:
        assert resolve_models(settings(QINDEX_OLLAMA_URL=url)).profile == "offline"


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://x", "http://127.0.0.1:port", "http://a b"]
)
def test_an_ollama_address_that_is_none_is_named(url: str, settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="QINDEX_OLLAMA_URL"):
        resolve_models(settings(QINDEX_OLLAMA_URL=url))


def test_embedded_is_another_name_of_offline(settings: MakeSettings) -> None:
    named = [resolve_models(settings(QINDEX_PROFILE=name)) for name in ("embedded", "offline")]
    assert named[0] == named[1]
    assert named[0].profile == "offline"
    assert "named by QINDEX_PROFILE" in named[0].line
    assert named[0].named


def test_one_cell_of_a_profile_is_overridden_alone(settings: MakeSettings) -> None:
    models = resolve_models(settings(QINDEX_PROFILE="offline", QINDEX_GENERATOR="ollama:llama3"))
    assert models_of(models) == ("ollama:llama3", "minilm", "extract")
    assert "questions come from rules" not in models.line


@pytest.mark.parametrize(
    ("embedder", "threshold"), [("minilm", 0.40), ("openai:text-embedding-3-large", 0.60)]
)
def test_threshold_and_dimension_go_with_the_embedder_not_with_the_profile(
    embedder: str, threshold: float, settings: MakeSettings
) -> None:
    models = resolve_models(settings(QINDEX_PROFILE="local", QINDEX_EMBEDDER=embedder))
    assert models.confidence_threshold == threshold
    assert models.embed_dim is None
    assert models.named


@pytest.mark.parametrize("name", ["a/b", "a b", "-", "../x"])
def test_a_collection_name_that_is_no_name_is_refused(name: str, settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="QINDEX_COLLECTION_NAME"):
        resolve_models(settings(QINDEX_PROFILE="offline", QINDEX_COLLECTION_NAME=name))
