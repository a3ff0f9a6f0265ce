from collections.abc import Callable

import pytest
from html_to_markdown import ConversionError
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.extract.extraction import Extraction, extract

MANY = 100_000
PARAGRAPH = "<p>Some words that stand here.</p>"


def extracted(html: str) -> Extraction:
    return extract(html, "https://x.org/")


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<",
        "<!--",
        "<html></html>",
        "<frameset><frame src=a></frameset>",
        '<a href="' * 1000,
        "<a " * MANY,
        "</div>" * MANY,
        "&" * MANY,
    ],
)
def test_markup_without_text_gives_none(html: str) -> None:
    assert extracted(html).main_words <= 1


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * MANY + PARAGRAPH, id="unclosed-divs"),
        pytest.param("<div>" * 600 + PARAGRAPH + "</div>" * 600, id="closed-divs"),
        pytest.param("<svg>" + "<g>" * MANY + PARAGRAPH, id="drawing"),
        pytest.param("<div/>" * MANY + PARAGRAPH, id="div-that-only-xml-would-close"),
        pytest.param("<pre>" + "<span>" * 5000 + "x" + "</span>" * 5000, id="33-spans-in-pre"),
        pytest.param("<div " + " a{}=1" * MANY + ">", id="same-attribute"),
        pytest.param(
            "<p " + " ".join(f"a{n}='1 2'" for n in range(2000)) + ">x", id="many-attributes"
        ),
    ],
)
def test_markup_that_would_keep_the_parser_busy_is_refused(html: str) -> None:
    with pytest.raises(ConversionError, match=r"deep|attributes"):
        extracted(html)


@pytest.mark.parametrize(
    "build",
    [
        lambda n: "<div>" * 400 + PARAGRAPH * n,
        lambda n: PARAGRAPH * n,
        lambda n: "<p>Some words that stand here." * n,
        lambda n: "<ul>" + "<li>Some words that stand here." * n,
        lambda n: "<table>" + "<tr><td>Some words that<td>stand here." * n,
        lambda n: f"<svg>{'<path/>' * 50_000}</svg>{PARAGRAPH * n}",
    ],
)
def test_long_and_careless_pages_are_read(build: Callable[[int], str]) -> None:
    assert extracted(build(3000)).raw_words == 15_000


def test_a_long_attribute_is_no_flood_of_attributes() -> None:
    html = f'<div data-index="{"word " * 20_000}">{PARAGRAPH}</div>'
    assert extracted(html).markdown == "Some words that stand here."


def test_characters_that_no_file_can_hold_do_not_stop_the_page() -> None:
    html = f"<main><h1>A\0b</h1>{PARAGRAPH}<p>a\ud800b</p><pre>\udfff\x01</pre></main>"
    result = extracted(html)
    assert "Some words that stand here." in result.markdown
    result.markdown.encode()
    result.raw_markdown.encode()


@given(st.text(alphabet=st.sampled_from("<>/=\"'&; abprent\n\0\ud800")))
def test_any_text_is_a_page(text: str) -> None:
    result = extracted(text)
    result.markdown.encode()
    assert 0 <= result.link_density <= 1
