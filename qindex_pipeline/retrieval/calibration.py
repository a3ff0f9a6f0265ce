"""How sure a result must be: the confidence threshold of one site, from its own index.

Which cosine means "this answers it" depends on the embedder and on the site: a small site about
one thing scores lower than a large manual. So a threshold is placed between what questions about
other things reach and what the site's own questions reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from qindex_pipeline.retrieval.evaluation.measures import auroc

if TYPE_CHECKING:
    import numpy as np

MIN_QUESTIONS = 20
"""A site with fewer accepted questions is not calibrated: a twentieth of them is no question."""
MAX_QUESTIONS = 400
"""Own questions that are scored; more move the quantiles by less than a hundredth."""
_FOREIGN_SHARE, _OWN_SHARE = 0.90, 0.05
_WAY = 0.25
"""How far the threshold stands on the way from the foreign questions' band to the site's own.

Own questions share words with their chunks, so their band lies higher than that of users'
questions, and the threshold stays near the foreign one.
"""


@dataclass(frozen=True)
class Calibration:
    """The threshold of a site, and how well it separates.

    Attributes:
        threshold: The least confidence of a result that may answer.
        auroc: Chance that an own question scores above a foreign one.
        false_accept: Share of the foreign questions at or above the threshold.
        false_refuse: Share of the site's own questions below it, each held out of the index.
        own_questions: How many own questions were scored.
        foreign_questions: How many foreign ones.
        word_overlap: Mean share of an own question's words that stand in its chunk: the
            higher, the easier these questions are beside users' ones.
    """

    threshold: float
    auroc: float
    false_accept: float
    false_refuse: float
    own_questions: int
    foreign_questions: int
    word_overlap: float

    @property
    def bands_overlap(self) -> bool:
        """Whether the threshold lets more than a tenth of either kind pass on the wrong side."""
        return self.false_accept > 0.1 or self.false_refuse > 0.1


@cache
def foreign_questions() -> tuple[str, ...]:
    """Questions about everyday things and other software, at least 200 of them."""
    text = files("qindex_pipeline.retrieval").joinpath("foreign_questions.txt")
    return tuple(text.read_text(encoding="utf-8").splitlines())


def calibrate(
    own: Sequence[float], foreign: Sequence[float], word_overlap: float
) -> Calibration | None:
    """Place the threshold between the confidences of own and of foreign questions.

    Args:
        own: Confidence of each own question, its own vectors left out of the index.
        foreign: Confidence of each foreign question.
        word_overlap: See `Calibration`.

    Returns:
        None when there are too few own questions to say.
    """
    import numpy as np

    if len(own) < MIN_QUESTIONS or not foreign:
        return None
    low = float(np.quantile(foreign, _FOREIGN_SHARE))
    high = float(np.quantile(own, _OWN_SHARE))
    threshold = round(low + _WAY * (high - low), 3)
    return Calibration(
        threshold=threshold,
        auroc=round(auroc(own, foreign) or 0.0, 4),
        false_accept=_share(np.asarray(foreign) >= threshold),
        false_refuse=_share(np.asarray(own) < threshold),
        own_questions=len(own),
        foreign_questions=len(foreign),
        word_overlap=round(word_overlap, 3),
    )


def _share(found: "np.ndarray") -> float:
    return round(float(found.mean()), 4)
