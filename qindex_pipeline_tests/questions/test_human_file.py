"""The file of people's questions: what it may hold, and how a mistake in it is said."""

from pathlib import Path

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.questions.human_file import Wish, orphans, read_human_file

GOOD = """\
# What support is asked most.
pages:
  /guide/install.html:
    add:
      - question: How do I install it
          behind a proxy?
        evidence: Set HTTPS_PROXY first.
    pin:
      - How do I install it?
      - question: "Which version: 3 or 4?"
        evidence: Version 4 is current.
    ban:
      - What is this page about?
  https://docs.example.com/faq:
    add:
"""


def test_a_file_gives_wishes_in_its_order_and_bans_by_page(tmp_path: Path):
    file = tmp_path / "docs.yaml"
    file.write_text(GOOD)
    found = read_human_file(file)
    assert found is not None
    page = "/guide/install.html"
    assert found.wishes == [
        Wish(page, "How do I install it behind a proxy?", "Set HTTPS_PROXY first."),
        Wish(page, "How do I install it?", None),
        Wish(page, "Which version: 3 or 4?", "Version 4 is current."),
    ]
    assert found.banned[page] == {"what is this page about"}
    assert found.banned["docs.example.com/faq"] == frozenset()


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "pages:\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str):
    file = tmp_path / "docs.yaml"
    file.write_text(text)
    found = read_human_file(file)
    assert found is not None
    assert not found.wishes and not found.banned


def test_no_file_is_no_mistake(tmp_path: Path):
    assert read_human_file(tmp_path / "docs.yaml") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", "is no file of questions"),
        ("/a: {add: []}\n", "is no file of questions"),
        ("pages: [a]\n", "`pages` must map pages"),
        ("pages:\n  /a: [b]\n", "page '/a': Input should be a valid dictionary"),
        ("pages:\n  /a: {adds: []}\n", "page '/a': adds: not known"),
        ("pages:\n  /a: {add: How?}\n", "page '/a': add: Input should be a valid list"),
        ("pages:\n  /a: {add: [How?]}\n", "page '/a': add, entry 1: Input should be a valid"),
        (
            "pages:\n  /a:\n    add:\n    - {question: A?, evidence: a}\n    - {question: B?}\n",
            "page '/a': add, entry 2, evidence: Field required",
        ),
        (
            "pages:\n  /a: {pin: [{question: A?, evidence: 12}]}\n",
            "pin, entry 1, evidence: Input should be a valid string",
        ),
        ("pages:\n  /a: {pin: [' ']}\n", "pin, entry 1, question: String should have at least 1"),
        ("pages:\n  /a: {ban: [3]}\n", "ban, entry 1: Input should be a valid string"),
        (
            "pages:\n  /a: {ban: [{question: A?}]}\n",
            "ban, entry 1: Input should be a valid string",
        ),
        ("pages:\n  /a: {pin: [A?], ban: [a]}\n", "page '/a': 'a' is wanted and banned"),
        ("pages:\n  /a: {pin: [A?, a]}\n", "page '/a': 'a' stands there twice"),
        ("pages:\n  /a/: {}\n  a/index.html: {}\n", "'/a/' and 'a/index.html' are one page"),
        ("pages:\n  /a: {}\n  /a: {}\n", "line 3 is not valid YAML (found duplicate key"),
        ("pages:\n  /a: {ban: [\n", "is not valid YAML"),
    ],
)
def test_a_mistake_names_file_page_and_entry(tmp_path: Path, text: str, expected: str):
    file = tmp_path / "docs.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_human_file(file)
    said = str(raised.value)
    assert said.startswith(str(file))
    assert expected in said
    assert "\n" not in said


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path):
    file = tmp_path / "docs.yaml"
    file.write_bytes(b"pages: \xff\n")
    with pytest.raises(UsageError, match=r"docs\.yaml is not UTF-8"):
        read_human_file(file)


def test_files_of_no_site_are_orphans(tmp_path: Path):
    for name in ("docs.example.com.yaml", "docs.example.com.yml", "old.yaml", "notes.txt"):
        (tmp_path / name).write_text("")
    found = [file.name for file in orphans(tmp_path, {"docs.example.com": None})]
    assert found == ["docs.example.com.yml", "old.yaml"]
    assert orphans(tmp_path / "nowhere", {}) == []
