"""What an embedder is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors of one dimension.

    Attributes:
        spec: `provider:model`, as the settings name it.
        revision: What distinguishes two models of the same name (a checksum), or "".
        max_tokens: Tokens of a text that the model reads; a longer text must be cut before.
    """

    spec: str
    revision: str
    max_tokens: int

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without truncation; an upper bound where it is not known."""
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, shape (len(texts), dimension), float32.

        Raises WorkError when a text is longer than `max_tokens` or the provider fails.
        """
        ...
