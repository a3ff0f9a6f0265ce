"""What of a passage is embedded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.embedding.readable import readable

CASES = {
    "a link": ("see [the guide](https://a.b/c) now", "see the guide now"),
    "a title": ('see [the guide](/c "Guide") now', "see the guide now"),
    "brackets in the text": ("[git-reset[1]](/git-reset.html)", "git-reset[1]"),
    "parentheses in the address": ("[C](/wiki/C_(language)) it", "C it"),
    "an image": ("![a red lamp](lamp.png)", "a red lamp"),
    "a link over two lines": ("see [the\nguide](/c) now\nthen", "see the\nguide now\nthen"),
    "a heading and a list": ("## [A](/a)\n\n- [b](/b)\n- c", "## A\n\n- b\n- c"),
    "code": ("```\n[a](b)\n```\n\n[c](d)", "```\n[a](b)\n```\n\nc"),
    "a code span": ("write `[text](address)` or [this](/x)", "write `[text](address)` or this"),
    "no link": ("the array a[0] (zero) and (y)[z]", "the array a[0] (zero) and (y)[z]"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reader_sees_texts_not_addresses(name: str):
    markdown, expected = CASES[name]
    assert readable(markdown) == expected


@given(st.text(alphabet='ab[]()!`\n #-"/', max_size=60))
def test_no_text_fails_and_lines_stay(markdown: str):
    assert readable(markdown).count("\n") == markdown.count("\n")
