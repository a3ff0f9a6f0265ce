"""Word forms that the rules depend on."""

import pytest

from qindex_pipeline.questions.generators.rule_set import english


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("your file, if you edit it", "my file, if I edit it"),
        ("you're sure that you've finished", "I am sure that I have finished"),
        ("it allows you to leave", "it allows me to leave"),
        ("a copy for yourself", "a copy for myself"),
    ],
)
def test_the_reader_becomes_the_one_who_asks(text, expected):
    assert english.first_person(text) == expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Installing the CLI", "install the CLI"),
        ("Creates a list", "create a list"),
        ("running tests", "run tests"),
        ("Copies all files", "copy all files"),
        ("Release notes", None),
        ("Release the lock", "release the lock"),
        ("String values", None),
        ("Theming", None),
        ("Parcels", None),
    ],
)
def test_only_phrases_that_read_as_commands_become_tasks(phrase, expected):
    assert english.imperative(phrase) == expected


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("buttons", True), ("buttons in the editor", True), ("syntax", False), ("class", False),
     ("git-pack-objects", False), ("status", False), ("", False)],
)  # fmt: skip
def test_plural_nouns_are_told_apart(noun, plural):
    assert english.is_plural(noun) is plural


@pytest.mark.parametrize(
    ("noun", "expected"),
    [("buttons", "button"), ("entries", "entry"), ("classes", "class"), ("alias", "alias"),
     ("cell types", "cell type")],
)  # fmt: skip
def test_regular_plurals_have_a_singular(noun, expected):
    assert english.singular(noun) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("defined", "define"), ("stopped", "stop"), ("copied", "copy"), ("written", "write"),
     ("red", None)],
)  # fmt: skip
def test_participles_lead_back_to_their_verb(word, expected):
    assert english.base_of_participle(word) == expected
