"""The questions that a site is evaluated with before it is published, as its options name them."""

from collections.abc import Sequence
from dataclasses import dataclass

from qindex_pipeline.errors import UsageError
from qindex_pipeline.ids import content_hash
from qindex_pipeline.retrieval.evaluation.rows import (
    EvalRow,
    UnanswerableRow,
    read_rows,
    read_unanswerable,
)
from qindex_pipeline.sites import Site


@dataclass(frozen=True)
class SiteQuestions:
    """The questions of one site.

    Attributes:
        file: Name of the file, for people.
        rows: Questions that the site answers, one at least.
        unanswerable: Questions that it doesn't; may be none.
    """

    file: str
    rows: Sequence[EvalRow]
    unanswerable: Sequence[UnanswerableRow] = ()

    @property
    def digest(self) -> str:
        """Hash of what is asked and which pages are right: of all that moves the ranks' mean.

        Ids, the order of the lines and the unanswerable questions don't, so a new id is no new
        question file.
        """
        lines = ("\n".join((row.question, *sorted(row.right))) for row in self.rows)
        return content_hash(*sorted(lines))


def read_site_questions(site: Site) -> SiteQuestions | None:
    """The questions that `site` names, or None when it names none.

    Raises UsageError naming site, option and file when one is missing or malformed.
    """
    if site.eval_questions is None:
        return None
    option = "eval_questions"
    try:
        rows = read_rows(site.eval_questions)
        option = "eval_unanswerable"
        foreign = read_unanswerable(site.eval_unanswerable) if site.eval_unanswerable else []
    except UsageError as error:
        raise UsageError(
            f"site {site.key!r}: {option}: {error}; mend the file, or the option in the sites file"
        ) from None
    return SiteQuestions(site.eval_questions.name, rows, foreign)
