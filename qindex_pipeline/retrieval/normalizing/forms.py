"""The forms of a question that are searched, and one set of leg scores from all of them.

The user's own words are always searched. A canonical form is searched beside them, never in
their place: a rule that reads a query wrongly can then add candidates, but lose none.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from qindex_pipeline.errors import UsageError
from qindex_pipeline.retrieval.legs import Hit, Hits
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query
from qindex_pipeline.retrieval.normalizing.subject import with_subject

Normalizer = Callable[[str], str]
"""From a query to its canonical question, or to the stripped query itself."""

_TEXTS = ("title", "text", "question", "evidence")
"""Fields of a payload in which an option may be named."""


def in_one_line(question: str, command: str) -> str:
    """The question without line breaks and double spaces.

    Raises UsageError for an empty one, which shows how `command` is called.
    """
    asked = " ".join(question.split())
    if not asked:
        raise UsageError(f'the question is empty: qindex {command} "How do I …?"')
    return asked


def search_forms(
    question: str, normalize: Normalizer = normalize_query, subject: str | None = None
) -> tuple[str, ...]:
    """The question in one line, and its canonical form behind it where that differs.

    Args:
        question: As the user typed it.
        normalize: How a query is brought to a question.
        subject: What the site that is asked is about, in the place of a bare "this".
    """
    given = " ".join(question.split())
    return tuple(dict.fromkeys((given, normalize(with_subject(given, subject)))))


def merge_forms(forms: Sequence[Hits], options: Sequence[str] = ()) -> Hits:
    """The best hit of each chunk on each leg over all forms, as if one question had been asked.

    "What does the --x option do?" is near to every question about an option, whatever its name:
    on git's manual 13 of 20 options of other programs passed a threshold of 0.50 by the form
    alone, 5 where the point has to name the option (some of them are git's too). So a cosine of
    a further form counts only for such points.

    Args:
        forms: What `ask_legs` returned for each form, the user's own first; all asked the same
            legs.
        options: Options in the question, from `option_names`.
    """
    first, *others = forms
    return {
        leg: _best_hits(
            [hits, *(_naming(form[leg], () if leg == "bm25" else options) for form in others)]
        )
        for leg, hits in first.items()
    }


def _best_hits(replies: Sequence[Mapping[str, Hit]]) -> dict[str, Hit]:
    best: dict[str, Hit] = {}
    for reply in replies:
        for chunk, hit in reply.items():
            if chunk not in best or best[chunk].score < hit.score:
                best[chunk] = hit
    return best


def _naming(hits: Mapping[str, Hit], options: Sequence[str]) -> Mapping[str, Hit]:
    """The hits whose payload names each of the options as a whole word."""
    patterns = [re.compile(rf"(?<![\w-]){re.escape(option)}(?![\w-])") for option in options]
    return {
        chunk: hit
        for chunk, hit in hits.items()
        if all(pattern.search(_text(hit.payload)) for pattern in patterns)
    }


def _text(payload: Mapping[str, object]) -> str:
    return "\n".join(str(payload.get(field) or "") for field in _TEXTS)
