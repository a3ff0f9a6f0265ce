"""A bare "this" in a question to a docs site means what the site documents."""

import pytest

from qindex_pipeline.retrieval.normalizing.forms import search_forms
from qindex_pipeline.retrieval.normalizing.subject import subject_of, with_subject


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Example Tables - Write once, render anywhere", "Example Tables"),
        ("Welcome to Gadget — Gadget Documentation (3.0.x)", "Gadget"),
        ("The Widget documentation", "Widget"),
        ("Widget", "Widget"),
        ("gadget(1)", "gadget"),
        ("Introduction", None),
        ("Home | Gadget", None),
        ("Documentation", None),
        ("A title that is a whole sentence about something", None),
        ("", None),
    ],
)
def test_the_start_pages_title_names_the_subject_or_nothing(
    title: str, subject: str | None
) -> None:
    assert subject_of(title) == subject


@pytest.mark.parametrize(
    ("question", "resolved"),
    [
        ("how can I use this in my project", "how can I use Gadget in my project"),
        ("how do I install it?", "how do I install Gadget?"),
        ("how to install this package", "how to install Gadget"),
        ("How do I set up this in docker", "How do I set up Gadget in docker"),
        ("Getting started: run it locally", "Getting started: run Gadget locally"),
    ],
)
def test_what_is_used_or_installed_gets_its_name(question: str, resolved: str) -> None:
    assert with_subject(question, "Gadget") == resolved
    assert with_subject(question, None) == question


@pytest.mark.parametrize(
    "question",
    [
        "what does this error mean",
        "how to use this command",
        "how do I remove the branch and add it back",
        "after I pushed a commit, how do I remove it",
        "why use this over other tools",
        "how do I add a button",
    ],
)
def test_a_pointing_word_that_means_something_else_stands(question: str) -> None:
    assert with_subject(question, "Gadget") == question


def test_both_the_users_words_and_the_named_form_are_searched() -> None:
    assert search_forms("how can I use this in my project", subject="Gadget") == (
        "how can I use this in my project",
        "how can I use Gadget in my project",
    )
