"""How a setting `provider:model` becomes an embedder."""

from pathlib import Path
from typing import TYPE_CHECKING

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.errors import UsageError

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


def open_embedder(spec: str, settings: "Settings", expected_dim: int | None) -> Embedder:
    """The embedder that `spec` names.

    Args:
        spec: `minilm`, `openai:<model>` or `ollama:<model>`.
        settings: Keys, addresses and the state folder.
        expected_dim: EMBED_DIM; None asks the model.

    Raises:
        UsageError: Unknown provider, a missing key, or a dimension that is not the model's.
    """
    embedder = _open(spec, settings)
    if expected_dim is not None and embedder.dimension != expected_dim:
        raise UsageError(
            f"EMBED_DIM is {expected_dim}, but {spec} gives vectors of {embedder.dimension}: "
            "unset QINDEX_EMBED_DIM or name another QINDEX_EMBEDDER"
        )
    return embedder


def _open(spec: str, settings: "Settings") -> Embedder:
    provider, _, model = spec.partition(":")
    if spec == "minilm":
        from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

        return MiniLMEmbedder(Path(__file__).parent / "minilm")
    if provider in {"openai", "ollama"} and model:
        from qindex_pipeline.embedding.openai_embedder import open_openai_embedder

        return open_openai_embedder(provider, model, settings)
    raise UsageError(
        f"embedder {spec!r} is not known: use minilm, openai:<model> or ollama:<model>"
    )
