"""Each failure that was seen in the field, or reported by others, by its id in the research.

Letters are the failure modes of the field test, numbers the reports on other crawlers.
"""

import pytest

from qindex_pipeline.crawl.extract.extraction import Extraction, extract

SENTENCE = "The tool reads the file and writes the result to disk. "
SHELL = (
    '<div class="highlight"><pre><span></span><code><span class="line"><a id="__codelineno-0-1" '
    'name="__codelineno-0-1" href="#__codelineno-0-1"></a><span class="go">pip</span>'
    '<span class="w"> </span><span class="go">install</span><span class="w"> </span>x</span>\n'
    '<span class="line"><span class="k">FROM</span><span class="w">  </span>y</span>\n'
    "</code></pre></div>"
)
TOKEN_LINES = (
    '<div class="language-py codeBlockContainer"><pre class="prism-code language-py"><code>'
    '<span class="token-line">a = 1<br></span><span class="token-line"><br></span>'
    '<span class="token-line">b = 2<br></span></code></pre></div>'
)
LABELLED = (
    '<div class="language-json"><button class="copy"></button><span class="lang">json</span>'
    '<pre class="shiki"><code><span class="line">{}</span></code></pre></div>'
)
ADMONITION = (
    '<div class="admonition note"><p class="admonition-title">Note</p>'
    "<p>The value is read.</p></div>"
)
SIGNATURE = (
    '<dl><dt class="sig"><span class="sig-prename"><span class="pre">csv.</span></span>'
    '<span class="sig-name"><span class="pre">reader</span></span><span>(</span>'
    '<em class="sig-param">csvfile</em>, <em class="sig-param">dialect=\'excel\'</em>, '
    '<em class="sig-param">**fmtparams</em><span>)</span></dt><dd><p>Reads.</p></dd></dl>'
)


def page(body: str) -> Extraction:
    return extract(f"<html><body>{body}</body></html>", "https://x.org/docs/page")


def content(html: str) -> str:
    return page(f"<main><h1>Title</h1><p>{SENTENCE * 3}</p>{html}</main>").markdown


def fit(html: str) -> Extraction:
    menu = "".join(f'<li><a href="/a/long/way/to/{n:04}">menu entry</a></li>' for n in range(500))
    return page(f"<div><ul>{menu}</ul></div><div><p>{SENTENCE * 10}</p>{html}</div>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param(SHELL, "```\npip install x\nFROM  y\n```", id="C-anchors-of-code-lines"),
        pytest.param(TOKEN_LINES, "```py\na = 1\n\nb = 2\n```", id="C-blank-lines-in-code"),
        pytest.param(LABELLED, "disk.\n\n```json\n{}\n```", id="C-language-leaks-into-text"),
        pytest.param(
            "<pre>```\n# x\n```</pre>", "````\n```\n# x\n```\n````", id="C-fence-within-a-fence"
        ),
        pytest.param(
            "<ol><li><p>one</p><pre>x = 1</pre></li><li>two</li></ol>",
            "1. one\n\n   ```\n   x = 1\n   ```\n\n2. two",
            id="C-code-in-a-list",
        ),
        pytest.param(
            "<table><tr><th>k</th></tr><tr><td>a|b</td></tr></table>",
            "| a\\|b |",
            id="C-pipe-in-a-cell",
        ),
        pytest.param(
            "<p>one</p><p>two</p><ul><li>three</li></ul><p>four</p>",
            "one\n\ntwo\n\n- three\n\nfour",
            id="D-5-one-newline-between-paragraphs",
        ),
        pytest.param(
            "<table><tr><th>k</th></tr><tr><td>v</td></tr></table>after",
            "| v |\n\nafter",
            id="D-table-swallows-the-next-line",
        ),
        pytest.param(ADMONITION, "**Note**\n\nThe value is read.", id="D-admonition-title-melts"),
        pytest.param(
            '<h2 id=a>Use<a class="headerlink" href="#a">¶</a></h2><p>x</p>',
            "## Use\n\nx",
            id="E-pilcrow",
        ),
        pytest.param(
            '<h2 id=a>Use <a class="header-anchor" href="#a">\u200b</a></h2><p>x</p>',
            "## Use\n\nx",
            id="E-zero-width-link",
        ),
        pytest.param(
            '<h2><span id=Use>Use</span><span class="mw-editsection">[<a href="/e">edit</a>]</span>'
            "</h2><p>x</p>",
            "## Use\n\nx",
            id="E-edit-link",
        ),
        pytest.param(
            SIGNATURE,
            "**csv.reader(csvfile, dialect='excel', **fmtparams)**\n\nReads.",
            id="F-signature-and-definition",
        ),
        pytest.param(
            "<pre><i>if</i><span> </span><span>x:</span>\n<span>    </span><span>y</span></pre>",
            "```\nif x:\n    y\n```",
            id="2-3-blanks-in-code",
        ),
        pytest.param(
            "<div>Run this:<pre>make</pre>then that</div>",
            "Run this:\n\n```\nmake\n```\n\nthen that",
            id="4-text-glued-to-a-fence",
        ),
        pytest.param(
            "<p>Call <a href=/f>the function</a> with <strong>two words</strong> only.</p>",
            "Call [the function](https://x.org/f) with **two words** only.",
            id="6-words-of-links-and-bold",
        ),
        pytest.param(
            "<p>one <b>two</b>\n    <i>three</i></p>", "one **two** *three*", id="4-inline-glued"
        ),
    ],
)
def test_what_went_wrong_elsewhere_is_right_here(html: str, expected: str) -> None:
    assert expected in content(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param(SHELL, "```\npip install x\nFROM  y\n```", id="B-1-fit-glues-code"),
        pytest.param(
            "<p>Call <a href=/f>the function</a> with <strong>two words</strong> and the rest of "
            "what is said about it here.</p>",
            "Call [the function](https://x.org/f) with **two words** and",
            id="6-fit-loses-words",
        ),
    ],
)
def test_the_fit_text_is_as_true_as_the_main_content(html: str, expected: str) -> None:
    result = fit(html)
    assert result.chosen == "fit"
    assert expected in result.markdown


def test_r_the_h1_is_that_of_the_content_not_the_name_of_the_site() -> None:
    site = "<div id=hd><h1><a href=/>The site's documentation</a></h1></div>"
    result = page(f"{site}<div id=content><h1>Page</h1><p>{SENTENCE * 3}</p></div>")
    assert result.h1 == "Page"


def test_r_the_summary_is_not_the_navigation() -> None:
    bar = "<p>« <a href=/a>previous</a> | <a href=/b>up one level</a> | <a href=/c>next</a> »</p>"
    tag = "<div>Small. Fast. Reliable. Choose any three.</div>"
    assert (
        page(f"{tag}<main>{bar}<p>{SENTENCE}</p>{SENTENCE * 4}</main>").summary == SENTENCE.strip()
    )


def test_an_error_text_that_is_documentation_is_stored_as_such() -> None:
    text = "Crawl4AI Error: This page is not fully supported."
    result = page(f"<main><h1>Errors</h1><h2>{text}</h2><p>{text} {SENTENCE * 3}</p></main>")
    assert result.chosen == "main"
    assert result.markdown.startswith(f"# Errors\n\n## {text}\n\n{text} ")


def test_a_an_xml_declaration_is_no_text_and_no_error() -> None:
    html = (
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<body><div>{SENTENCE * 3}</div></body></html>"
    )
    assert extract(html, "https://x.org/").markdown == (SENTENCE * 3).strip()
