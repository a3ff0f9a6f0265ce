"""How a setting `provider:model` becomes an embedder."""

from typing import TYPE_CHECKING

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.errors import UsageError

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


def open_embedder(spec: str, settings: "Settings", expected_dim: int | None) -> Embedder:
    """The embedder that `spec` names.

    Args:
        spec: `minilm`, `fastembed:<model>`, `openai:<model>` or `ollama:<model>`.
        settings: Keys, addresses and the state folder.
        expected_dim: EMBED_DIM; a text-embedding-3 model is shortened to it, another one must
            have it. None takes the model's own.

    Raises:
        UsageError: Unknown provider or model, fastembed not installed, a missing key, or a
            dimension that the model doesn't have.
    """
    embedder = _open(spec, settings, expected_dim)
    if expected_dim is not None and embedder.dimension != expected_dim:
        raise UsageError(
            f"EMBED_DIM is {expected_dim}, but {spec} gives vectors of {embedder.dimension}: "
            "unset QINDEX_EMBED_DIM or name another QINDEX_EMBEDDER"
        )
    return embedder


def _open(spec: str, settings: "Settings", expected_dim: int | None) -> Embedder:
    provider, _, model = spec.partition(":")
    if spec == "minilm":
        from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

        return MiniLMEmbedder()
    if provider == "fastembed" and model:
        from qindex_pipeline.embedding.fastembed_embedder import open_fastembed_embedder

        return open_fastembed_embedder(model, settings.state_dir / "models")
    if provider in {"openai", "ollama"} and model:
        from qindex_pipeline.embedding.openai_embedder import open_openai_embedder

        return open_openai_embedder(provider, model, settings, expected_dim)
    raise UsageError(
        f"embedder {spec!r} is not known: use minilm, fastembed:<model>, openai:<model> or "
        "ollama:<model>"
    )
