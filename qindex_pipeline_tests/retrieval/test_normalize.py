"""Canonical questions by rules: each form, what stays as it is, and what holds for any text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.normalizing.normalize import (
    MAX_CHARACTERS,
    MAX_GROWTH,
    is_question,
    normalize_query,
)
from qindex_pipeline.retrieval.normalizing.words import option_names, verbatim_words

CANONICAL = {
    "command to install the stl package": "How do I install the stl package?",
    "git command to undo a merge": "How do I undo a merge with git?",
    "command for installing the stl package": "How do I install the stl package?",
    "Delete a branch.": "How do I delete a branch?",
    "stash untracked files": "How do I stash untracked files?",
    "rebase interactive squash": "How do I rebase interactive squash?",
    "viewing unpushed commits": "How do I view unpushed commits?",
    "--force-with-lease": "What does the --force-with-lease option do?",
    "git push --force": "What does the --force option of git push do?",
    "git push -u new branch": "What does git push -u new branch do?",
    "fetch vs pull": "What is the difference between fetch and pull?",
    "difference between --soft and --hard": "What is the difference between --soft and --hard?",
    "HEAD meaning": "What does HEAD mean?",
    "npm install structured-table error": "Why does npm install structured-table fail?",
    "push.default warning": "Why do I get the push.default warning?",
    "targetId not working": "Why is targetId not working?",
    "button doesn't work": "Why does button not work?",
    "detached HEAD": "What is detached HEAD?",
    "merge conflicts": "What are merge conflicts?",
    'add "A vs B" to the index': 'How do I add "A vs B" to the index?',
}


@pytest.mark.parametrize(("query", "question"), CANONICAL.items())
def test_a_query_gets_its_canonical_question(query: str, question: str) -> None:
    assert normalize_query(query) == question
    assert normalize_query(f"  {query}\n") == question


@pytest.mark.parametrize(
    "query",
    [
        "",
        "How do I install it?",
        "how to install it",
        "what is the use of targetId in button",
        "git: how to find a deleted file",
        "git stash list",
        "Git fetch remote branch",
        "npm install structured-table",
        "branch rename",
        "I ran into a merge conflict",
        "there is an error",
        "installer le paquet pour windows",
        "Datei löschen",
        "delete\nbranch",
        "delete a branch " * 20,
        "the button doesn't work",
    ],
)
def test_what_asks_already_or_fits_no_sure_rule_stays(query: str) -> None:
    assert normalize_query(query) == query.strip()


@pytest.mark.parametrize(("lang", "changed"), [("en", True), ("en-GB", True), ("de", False)])
def test_only_english_has_rules(lang: str, changed: bool) -> None:
    assert (normalize_query("delete a branch", lang) != "delete a branch") is changed


@pytest.mark.parametrize(
    ("text", "asks"),
    [("is it there", True), ("list it?", True), ("in git how do I x", True), ("x", False)],
)
def test_a_question_is_told_by_its_mark_its_first_word_or_a_clause(text: str, asks: bool) -> None:
    assert is_question(text) is asks


def test_verbatim_words_are_quotes_options_and_code_but_no_plain_words() -> None:
    query = "Delete 'my file' with git.exe --force, core.fileMode HEAD cherry-pick"
    words = ["'my file'", "git.exe", "--force", "core.fileMode", "HEAD"]
    assert verbatim_words(query) == words


def test_options_are_named_without_their_values_and_outside_quotes() -> None:
    assert option_names("log --sort=-date -n '--quoted'") == ["--sort", "-n"]


PLAIN = """git npm command to for delete Delete stash installing a the --force -u vs error
warning not working meaning of HEAD core.fileMode ./x/Y.py . ? how what failed fails difference
between and branch naïve doesn't work definition ' " `""".split()
WORDS = st.sampled_from([*PLAIN, "`rm -rf /`", '"a  vs b"', "'x error'", "\ue000", "\n"])
QUERIES = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=250))


@given(QUERIES)
@example("error error warning")
def test_normalising_twice_changes_nothing_more(query: str) -> None:
    once = normalize_query(query)
    assert normalize_query(once) == once


@given(QUERIES)
def test_code_options_and_quoted_text_are_kept_to_the_character(query: str) -> None:
    normalized = normalize_query(query)
    assert all(word in normalized for word in verbatim_words(query))


@given(QUERIES)
def test_a_canonical_form_is_a_question_of_bounded_length(query: str) -> None:
    normalized = normalize_query(query)
    if normalized != query.strip():
        assert is_question(normalized)
        assert normalized.endswith("?")
        assert len(normalized) <= min(len(query), MAX_CHARACTERS) + MAX_GROWTH


@given(QUERIES)
def test_no_word_of_a_quoted_or_plain_name_is_lost(query: str) -> None:
    normalized = normalize_query(query).lower()
    names = re.findall(r"(?:head|branch|--force|core\.filemode)", query.lower())
    assert all(name in normalized for name in names)
