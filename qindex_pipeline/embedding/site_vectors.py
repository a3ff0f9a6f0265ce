"""What the filters of the questions ask of vectors.

A question's own vector, and how well it finds its chunk among all chunks of its site.
Texts are prepared as the embeddings table has them and go through the same cache, so that what
is embedded here is not embedded again.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.embedding.stage import texts_of_site
from qindex_pipeline.progress import Progress, silent

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

Row = Mapping[str, Any]

_BLOCK = 256
"""Questions that are ranked at once: their scores against 50,000 windows take 50 MB."""


class SiteVectors:
    """The vectors of one site's passages and questions.

    Attributes:
        texts_embedded: How many texts had to be embedded; 0 for an unchanged site.
    """

    def __init__(
        self,
        chunks: Sequence[Row],
        embedder: Embedder,
        made_by: Fingerprint,
        cache: VectorCache,
        progress: Progress = silent,
    ) -> None:
        """Use the site's `chunks`; nothing is embedded before it is asked for."""
        self.texts_embedded = 0
        self._chunks, self._embedder = chunks, embedder
        self._made_by, self._cache, self._progress = made_by, cache, progress
        self._questions: dict[str, Vectors] = {}
        self._windows: list[tuple[str, Vectors]] = []

    def embed(self, questions: Sequence[Row]) -> "Vectors":
        """Unit vectors of questions, one a row; the passages are embedded with them.

        Args:
            questions: Rows of the candidate_questions table.
        """
        import numpy as np

        wanted = [{**question, "accepted": True} for question in questions]
        rows = texts_of_site(self._chunks, wanted, self._embedder)
        vectors, embedded = self._cache.embed(
            self._made_by.digest,
            {row["text_hash"]: row["text"] for row in rows},
            self._embedder.embed,
            lambda done, total: self._progress(
                "grounded_questions", done, total, f"passages and questions, {self._embedder.spec}"
            ),
        )
        self.texts_embedded += embedded
        found = [(row, vectors[row["text_hash"]]) for row in rows]
        self._windows = [(row["chunk_id"], made) for row, made in found if row["kind"] == "passage"]
        self._questions |= {row["question_id"]: made for row, made in found if row["question_id"]}
        made = [self._questions[question["question_id"]] for question in questions]
        return np.array(made, dtype=np.float32).reshape(len(made), -1)

    def rank(self, questions: Sequence[Row]) -> list[int]:
        """The rank of each question's own chunk among all chunks of the site, from 1.

        A chunk scores by its best window's cosine; one with the same score stands not before it.

        Args:
            questions: Rows that `embed` was given.
        """
        import numpy as np

        runs = [(key, len(list(run))) for key, run in groupby(key for key, _ in self._windows)]
        starts = [0, *accumulate(length for _, length in runs)][:-1]
        position = {key: number for number, (key, _) in enumerate(runs)}
        windows = np.array([vector for _, vector in self._windows], dtype=np.float32)
        ranks: list[int] = []
        for first in range(0, len(questions), _BLOCK):
            block = questions[first : first + _BLOCK]
            asked = np.array([self._questions[row["question_id"]] for row in block])
            scores = np.maximum.reduceat(asked @ windows.T, starts, axis=1)
            own = scores[range(len(block)), [position[row["chunk_id"]] for row in block]]
            ranks.extend((1 + (scores > own[:, None]).sum(axis=1)).tolist())
        return ranks
