"""What made the forms of a question."""

import pytest

from qindex_pipeline.explaining.forms import explained_forms
from qindex_pipeline.retrieval.normalizing.forms import search_forms


@pytest.mark.parametrize(
    ("question", "subject", "made_by"),
    [
        ("How do I install it?", None, []),
        ("detached HEAD", None, ["rule 'noun'"]),
        ("git push --force", "Git", ["rule 'option'"]),
        ("How can I use this in my project?", "Lantern", ["the site's subject, 'Lantern'"]),
        ("install this", "Lantern", ["the site's subject, 'Lantern' and rule 'action'"]),
    ],
)
def test_a_form_names_the_rule_and_the_subject_that_made_it(
    question: str, subject: str | None, made_by: list[str]
) -> None:
    forms = explained_forms(search_forms(question, subject=subject), subject, None)
    assert [form.made_by for form in forms] == ["as it was asked", *made_by]


def test_a_form_that_no_rule_makes_is_the_models() -> None:
    first, second = explained_forms(("install x", "How is x installed?"), None, "ollama:tiny")
    assert (first.text, second.text) == ("install x", "How is x installed?")
    assert second.made_by == "model ollama:tiny"
