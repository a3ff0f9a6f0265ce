"""Which words the docs use: inflected, as parts of names, misspelt, in any script."""

import pytest

from qindex_pipeline.gaps.vocabulary import Vocabulary
from qindex_pipeline_tests.conftest import chunk_row

PUSH, IGNORE = "http://docs/push", "http://docs/ignore"


def vocabulary(**texts: str) -> Vocabulary:
    rows = [
        chunk_row(text, url=f"http://docs/{page}", title=page.title(), heading_path=["Options"])
        for page, text in texts.items()
    ]
    return Vocabulary(rows)


WORDS = vocabulary(
    push="Pushing updates remote branches. `--force-with-lease` and `--[no-]verify` are options. "
    "See [the list](http://elsewhere/heroku) of `core.fileMode`.",
    ignore="A `.gitignore` file is ignored in subdirectories. Deployment reaches C++ too.",
)


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("pushed", {PUSH}),
        ("branch", {PUSH}),
        ("options", {PUSH, IGNORE}),
        ("--force-with-lease", {PUSH}),
        ("--force-with-release", set[str]()),
        ("--verify", {PUSH}),
        ("--no-verify", {PUSH}),
        ("core.filemode", {PUSH}),
        ("core.fileName", set[str]()),
        (".gitignore", {IGNORE}),
        (".gitkeep", set[str]()),
        ("push/ignore", {PUSH, IGNORE}),
        ("subdirectoreis", {IGNORE}),
        ("deploymnt", {IGNORE}),
        ("react", set[str]()),
        ("heroku", set[str]()),
        ("C++", {IGNORE}),
        ("C#", set[str]()),
    ],
)
def test_a_term_is_found_where_it_is_used(question: str, pages: set[str]) -> None:
    (term,) = WORDS.terms(question)
    used = WORDS.pages(term)
    assert used == pages


def test_function_words_numbers_and_versions_say_nothing() -> None:
    assert [term.shown for term in WORDS.terms("How do I push 2 of them with 1.5?")] == ["push"]


def test_a_page_is_titled_and_its_title_and_headings_are_words_of_it() -> None:
    assert WORDS.titles == {PUSH: "Push", IGNORE: "Ignore"}
    (term,) = WORDS.terms("option")
    assert len(WORDS.pages(term)) == 2


def test_what_few_pages_use_weighs_more_and_the_shares_are_of_the_whole() -> None:
    asked = WORDS.terms("options for heroku branches")
    options, heroku, branches = asked
    assert WORDS.weight(options) < WORDS.weight(branches) < WORDS.weight(heroku)
    assert WORDS.share(asked, asked) == pytest.approx(1)
    assert WORDS.share(asked, [options]) < WORDS.share(asked, [heroku])
    assert WORDS.share([], []) == 0


def test_words_of_scripts_without_spaces_are_found_in_pieces() -> None:
    row = chunk_row("设置提交邮箱的方法", url=PUSH, title="邮箱", heading_path=[], lang="zh")
    words = Vocabulary([row])
    assert all(words.pages(term) for term in words.terms("如何设置邮箱"))
    assert not any(words.pages(term) for term in words.terms("数据库"))


def test_docs_without_a_page_know_no_word() -> None:
    empty = Vocabulary([])
    assert not empty.pages(empty.terms("branch")[0])
