"""Questions that ask the same, by their vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_QUESTIONS = 5000
"""Different questions that are grouped: their distances take 200 MB."""


def clusters(vectors: "Vectors", likeness: float) -> list[list[int]]:
    """Positions of the vectors by cluster, each in ascending order.

    Average linkage: two groups are one when their questions are on average alike, so that a chain
    of half-alike questions does not end in one group of everything.

    Args:
        vectors: Unit vectors, one a row.
        likeness: The average cosine at which two groups are one.
    """
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    count = len(vectors)
    if count < 2:
        return [[position] for position in range(count)]
    square = np.clip(1.0 - vectors @ vectors.T, 0.0, 2.0)
    tree = linkage(squareform(square, checks=False), "average")
    labels = fcluster(tree, 1.0 - likeness, "distance")
    found: dict[int, list[int]] = {}
    for position, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(position)
    return sorted(found.values())


def by_centrality(vectors: "Vectors", weights: Sequence[float]) -> list[int]:
    """Positions of one cluster's vectors, the most central first.

    Args:
        vectors: Unit vectors, one a row.
        weights: How often each was asked: the centre lies where most is asked.
    """
    import numpy as np

    centre = np.asarray(weights, dtype=np.float32) @ vectors
    near = np.round(vectors @ centre, 5)
    return sorted(range(len(vectors)), key=lambda position: (-near[position], position))
