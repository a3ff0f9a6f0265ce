"""Where evidence stands in a chunk."""

import pytest

from qindex_pipeline.questions.evidence import find_evidence

TEXT = """\
Run `lamp --force` first, then
read the [guide](/guide_a.html) and set **my_var** to `a*b`.
"""


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("Run `lamp --force` first", "Run `lamp --force` first"),
        ("first, then read the", "first, then\nread the"),
        ("  then\n\n read ", "then\nread"),
        ("Run lamp --force first", "Run `lamp --force` first"),
        ("read the guide and set my_var to a*b.",
         "read the [guide](/guide_a.html) and set **my_var** to `a*b`."),
        ("lamp force", None),
        ("run `lamp", None),
        ("guide_a.html and", None),
        ("", None),
        (" \n", None),
        ("**", "**"),
        ("``", None),
    ],
)  # fmt: skip
def test_evidence_stands_verbatim_or_without_the_marks_of_markdown(
    evidence: str, found: str | None
):
    assert find_evidence(evidence, TEXT) == found


def test_what_stands_verbatim_is_found_first():
    assert find_evidence("Set it", "**Set** it, then Set it now.") == "Set it"
    assert find_evidence("Set it now", "**Set** it now.") == "Set** it now"


@pytest.mark.parametrize(
    ("evidence", "text"),
    [("my_var", "Set myvar."), ("a*b", "ab"), ("a0", "a[0]"), ("C:x", r"C:\x")],
)
def test_a_character_that_is_no_mark_counts(evidence: str, text: str):
    assert find_evidence(evidence, text) is None
