"""What an embedder is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from qindex_pipeline.embedding.prefixes import Prefixes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors of one dimension.

    Attributes:
        spec: `provider:model`, as the settings name it.
        revision: What distinguishes two models of the same name (a checksum), or "".
        prefixes: What the model wants before a query and before a document; the embedder puts
            it there, callers give bare texts.
    """

    spec: str
    revision: str
    prefixes: Prefixes

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads, its prefix included; cut a longer text before."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a document, its prefix included, without truncation.

        An upper bound where the model's tokenizer is not at hand.
        """
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of documents, shape (len(texts), dimension), float32.

        Raises WorkError when a text is longer than `max_tokens` or the provider fails.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of what users ask, to be compared with those of documents.

        Shape, type and errors are those of `embed`.
        """
        ...
