import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.crawl.discovery.markdown_links import absolute_links

BASE = "https://x.org/docs/guide/page.md"
HERE = "https://x.org/docs/guide"


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("[a](b.md)", f"[a]({HERE}/b.md)"),
        ("[a](../b.md#part)", "[a](https://x.org/docs/b.md#part)"),
        ("[a](/b?c=1&d)", "[a](https://x.org/b?c=1&d)"),
        ("[a](//y.org/b)", "[a](https://y.org/b)"),
        ("[a](?v=2)", "[a](https://x.org/docs/guide/page.md?v=2)"),
        ("![a](b.png)", f"![a]({HERE}/b.png)"),
        ("[![a](b.png)](c)", f"[![a]({HERE}/b.png)]({HERE}/c)"),
        ('[a]( <b c.md> "title" )', f'[a]( <{HERE}/b c.md> "title" )'),
        ("[a](b(c).md 't')", f"[a]({HERE}/b(c).md 't')"),
        ("[a\nb](\nc.md)", f"[a\nb](\n{HERE}/c.md)"),
        ("[a [b] `]` c](d)", f"[a [b] `]` c]({HERE}/d)"),
        ("*[a](b)* [c](d), [e](f)", f"*[a]({HERE}/b)* [c]({HERE}/d), [e]({HERE}/f)"),
        ("# A [b](c) #", f"# A [b]({HERE}/c) #"),
        ("A [b](c)\n===", f"A [b]({HERE}/c)\n==="),
        ("> - a\n>   [b](c)", f"> - a\n>   [b]({HERE}/c)"),
        ("- a\n\tb [c](d)", f"- a\n\tb [c]({HERE}/d)"),
        ("1. a\n\n   [b](c)\n", f"1. a\n\n   [b]({HERE}/c)\n"),
        ("a [b](c)\r\nd [e](f)", f"a [b]({HERE}/c)\nd [e]({HERE}/f)"),
        ("[a]\n\n[a]: b.md 'c'", f"[a]\n\n[a]: {HERE}/b.md 'c'"),
        ("[a]: <b c>\n[d]: e", f"[a]: <{HERE}/b c>\n[d]: {HERE}/e"),
        ("> [a]: b", f"> [a]: {HERE}/b"),
        ("[a]: b\n[a]: c", f"[a]: {HERE}/b\n[a]: {HERE}/c"),
    ],
)
def test_targets_of_links_images_and_definitions_become_absolute(
    markdown: str, expected: str
) -> None:
    assert absolute_links(markdown, BASE) == expected


def test_cells_of_a_table_are_read_also_with_escaped_pipes() -> None:
    table = "| a | b |\n|---|---|\n| x\\|y [c](c) `[c](c)` | [d](d\\|e) |\n| [c](c) | [c](c) |"
    assert absolute_links(table, BASE) == (
        f"| a | b |\n|---|---|\n| x\\|y [c]({HERE}/c) `[c](c)` | [d]({HERE}/d\\|e) |\n"
        f"| [c]({HERE}/c) | [c]({HERE}/c) |"
    )


@pytest.mark.parametrize(
    "markdown",
    [
        "```md\n[a](b) ![c](d)\n[e]: f\n```",
        "~~~\n[a](b)",
        "> ```\n> [a](b)\n> ```",
        "- a\n\n  ```\n  [a](b)\n  ```",
        "    [a](b)",
        "`[a](b)` and ``[c](d) ` [e](f)``",
        "`[a](b)\n[c](d)`",
        r"\[a](b) and [a\](b)",
        "a](b) and [c] (d) and [e](f g)",
        "[a](https://y.org/b) [c](mailto:d@e.org) [f](data:text/plain,g)",
        "[a](#part) [b]() [c](<>)",
        "[a](http://[b)",
        '<a href="b">c</a> <https://y.org>',
        "<div>\n[a](b)\n</div>",
        "[a][b] [a]",
        "[a]:\nb",
        "",
    ],
)
def test_everything_else_stays_as_it_is(markdown: str) -> None:
    assert absolute_links(markdown, BASE) == markdown


def test_a_parenthesis_in_the_base_does_not_end_a_target() -> None:
    assert absolute_links("[a](b)", "https://x.org/c)/") == "[a](https://x.org/c%29/b)"


PIECES = st.sampled_from(
    (
        *"[]()!`<>|\\#\n\t \"'é",
        *("[a](b)", "![c](d e)", "](", "https://y.org/", "`x`"),
        *("```\n", "> ", "- ", "    ", "[f]: g\n", "|-|-|\n"),
    )
)


def _shape(tokens: list[Token]) -> list[tuple[str, str, str]]:
    """Everything that a reader sees, targets left out."""
    shape: list[tuple[str, str, str]] = []
    for token in tokens:
        text = "" if token.type == "inline" else token.content
        shape.append((token.type, token.info, text))
        shape += _shape(token.children or [])
    return shape


@given(st.lists(PIECES, max_size=40).map("".join))
def test_only_targets_change_whatever_the_text(markdown: str) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    once = absolute_links(markdown, BASE)
    assert _shape(parser.parse(once)) == _shape(parser.parse(markdown))
    assert absolute_links(once, BASE) == once


@given(st.text(max_size=80))
def test_a_text_without_brackets_stays_whatever_it_is(text: str) -> None:
    text = text.replace("]", "").replace("\r", "")
    assert absolute_links(text, BASE) == text
