"""Which chunks nobody is asked about."""

import pytest

from qindex_pipeline.questions.filters.navigation import is_navigation
from qindex_pipeline_tests.conftest import chunk_row

NAVIGATION = {
    "see also": "## SEE ALSO\n\n[git-add(1)](/git-add.html), [git-rm(1)](/git-rm.html), "
    "[git-mv(1)](/git-mv.html)",
    "table of contents": "The pages of this guide:\n\n"
    "* [Install](#a)\n  + [On Linux](#b)\n* [Use](#c)",
    "breadcrumbs": "[<< Prev](/a) | [Up](/b) | [Next >>](/c)",
    "index": "- [wrap() (in module curses)](/c), [[1]](/w#1), [[2]](/w#2)\n- [write()](/x)",
    "questions of a FAQ": "- [How do I start?](#a)\n- [Why does it fail?](#b)\n- [Who?](#c)",
    "table of related": "| Modules | Directives |\n|---|---|\n"
    "| [`core`](/a) [`dir`](/b) | [`Log`](/c) |",
    "images": "[![top](/up.gif)](#page) [![next](/n.gif)](/n) [![last](/l.gif)](/l)",
}
CONTENT = {
    "two links": "See [git-add(1)](/git-add.html) and [git-rm(1)](/git-rm.html).",
    "commands with what they do": "- [git-add(1)](/a): Add file contents to the index\n"
    "- [git-rm(1)](/b): Remove files from the working tree\n- [git-mv(1)](/c): Move a file",
    "table of commands": "| Command | Meaning |\n|---|---|\n| [add](/a) | add file contents |\n"
    "| [rm](/b) | remove files |\n| [mv](/c) | move a file |",
    "a sentence full of links": "Running [git-diff(1)](/d), [git-log(1)](/l), [git-show(1)](/s) "
    "or [git-stash(1)](/t) with the option -p produces patch text.",
    "terms with what they stand for": "**DST**\n\n[Daylight Saving Time](/d)\n\n**FAQ**\n\n"
    "[Frequently Asked Questions](/f)\n\n**GIN**\n\n[Generalized Inverted Index](/g)",
    "code beside links": "[a](/a) [b](/b) [c](/c)\n\n```\ngit add .\n```",
    "prose": "Install the package with pip.",
    "nothing": "",
}


@pytest.mark.parametrize("name", NAVIGATION)
def test_a_list_of_links_is_navigation(name: str) -> None:
    assert is_navigation(chunk_row(NAVIGATION[name]))


@pytest.mark.parametrize("name", CONTENT)
def test_links_with_something_said_about_them_are_content(name: str) -> None:
    assert not is_navigation(chunk_row(CONTENT[name]))


def test_brackets_that_never_close_are_read_in_linear_time() -> None:
    assert not is_navigation(chunk_row("[" * 50_000 + "](" * 50_000))
