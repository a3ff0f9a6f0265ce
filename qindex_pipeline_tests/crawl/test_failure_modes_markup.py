"""What has gone wrong with code, lists, tables and headings on their way to markdown.

Every page that a test needs is written down and crawled once, with all others of its file, as one
site; the tests look at the rows.
"""

from collections.abc import Mapping

import pytest

from qindex_pipeline.crawl import Page
from qindex_pipeline_tests.crawl.written_site import SENTENCE, WrittenSite, fences, tokens

SITE = WrittenSite()


@pytest.fixture(scope="module")
def rows() -> Mapping[str, Page]:
    return SITE.rows()


HIGHLIGHTED = (
    "<pre><code><span class=nb>pip</span> <span class=nv>install</span><span class=w> </span>"
    "<span>mkdocs-material</span>\n<span class=k>FROM</span> <span>x</span>\n    <b>indented</b>"
    "\n\n<i>last</i>\t<u>line</u></code></pre>"
)
CODE = "pip install mkdocs-material\nFROM x\n    indented\n\nlast\tline\n"
WITH_CODE = f"<p>{SENTENCE * 10}</p>{HIGHLIGHTED}"


@pytest.mark.parametrize(
    "path",
    [SITE.main(WITH_CODE), *(SITE.nav_heavy(entries, WITH_CODE) for entries in (0, 100, 400))],
    ids=["container", "no navigation", "navigation", "nav-heavy"],
)
def test_the_blanks_of_highlighted_code_survive_whatever_is_chosen(
    rows: Mapping[str, Page], path: str
) -> None:
    assert fences(rows[path].markdown or "") == [("", CODE)]


GENERATORS = {
    "mkdocs": (
        ('<div class="language-yaml highlight"><pre><code><span id=__span-0-1><a href='
        '"#__codelineno-0-1" id=__codelineno-0-1></a>site:\n</span><span><a href='
        '"#__codelineno-0-2"></a>  name: x\n</span></code></pre></div>'),
        "yaml", "site:\n  name: x\n",
    ),
    "docusaurus": (
        ('<div class="language-js codeBlockContainer"><pre class="language-js"><code>'
        '<span class="token-line"><span>let a</span><br></span><span class="token-line">'
        '<span>  let b</span><br></span></code></pre><button>Copy</button></div>'),
        "js", "let a\n  let b\n",
    ),
    "docusaurus diff": (
        ('<div class="language-diff"><pre class="language-diff"><code><span class="token-line">'
        '<span class="token deleted-sign deleted"><span class="token deleted prefix">-</span>'
        '<span class="token deleted-sign deleted line">a</span></span><br></span><span class='
        '"token-line"><span class="token inserted line">+b</span><br></span></code></pre></div>'),
        "diff", "-a\n+b\n",
    ),
    "vitepress": (
        ('<div class="language-json"><button class=copy></button><span class=lang>json</span>'
        "<pre><code><span class=line>{</span>\n<span class=line>}</span></code></pre></div>"),
        "json", "{\n}\n",
    ),
    "sphinx": (
        ('<div class="highlight-python notranslate"><div class=highlight><pre><span></span>'
        "<span>import</span> <span>x</span>\n</pre></div></div>"),
        "python", "import x\n",
    ),
    "fence in a fence": (
        "<pre><code class=language-md>```py\nx\n```</code></pre>", "md", "```py\nx\n```\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "language", "code"),
    [(SITE.main(html), language, code) for html, language, code in GENERATORS.values()],
    ids=GENERATORS.keys(),
)
def test_code_of_the_common_generators_is_verbatim_with_its_language(
    rows: Mapping[str, Page], path: str, language: str, code: str
) -> None:
    markdown = rows[path].markdown or ""
    assert fences(markdown) == [(language, code)]
    outside = markdown.replace(code, "")
    assert not any(noise in outside for noise in ("codelineno", "Copy", "\njson\n"))


LIST = SITE.main("<ol><li>Run it:<pre>make\n  all</pre></li><li>Then look.</li></ol>")


def test_a_block_of_code_in_a_list_item_belongs_to_the_item(rows: Mapping[str, Page]) -> None:
    found = tokens(rows[LIST].markdown or "")
    assert [token.content for token in found if token.type == "fence"] == ["make\n  all\n"]
    assert sum(token.type == "ordered_list_open" for token in found) == 1
    assert sum(token.type == "list_item_open" for token in found) == 2


TABLE = SITE.main(
    "<table><tr><th>Key</th><th>Value</th></tr><tr><td><code>a|b</code></td><td>x|y</td></tr>"
    "<tr><td>list</td><td><ul><li>one</li><li>two</li></ul></td></tr></table>"
    "<p>After the table.</p>"
)


def test_pipes_and_lists_in_a_cell_leave_the_table_a_table(rows: Mapping[str, Page]) -> None:
    markdown = rows[TABLE].markdown or ""
    found = tokens(markdown)
    assert sum(token.type == "table_open" for token in found) == 1
    assert sum(token.type == "td_open" for token in found) == 4
    inline = [token.content for token in found if token.type == "inline"]
    assert inline[-1] == "After the table."
    assert all(word in markdown for word in ("one", "two"))


APART = SITE.main(
    "<p>First.</p><p>Second.</p>\n<p>Third before code:</p><pre>x = 1</pre><p>Fourth.</p>"
    "<div class='admonition note'><p class=admonition-title>Note</p><p>Be careful.</p></div>"
)


def test_paragraphs_admonitions_and_code_stand_apart(rows: Mapping[str, Page]) -> None:
    markdown = rows[APART].markdown or ""
    paragraphs = [token.content for token in tokens(markdown) if token.type == "inline"]
    for text in ("First.", "Second.", "Third before code:", "Fourth.", "Be careful."):
        assert text in paragraphs
    assert fences(markdown) == [("", "x = 1\n")]


PERMALINKS = {
    "sphinx": '<a class=headerlink href="#i" title="Permalink to this heading">¶</a>',
    "docusaurus": '<a class="hash-link" href="#i" title="Direct link to Install">&#8203;</a>',
    "vitepress": '<a class=header-anchor href="#i" aria-label="Permalink">&ZeroWidthSpace;</a>',
    "mediawiki": '<span class="mw-editsection">[<a href="/edit">edit</a>]</span>',
}


@pytest.mark.parametrize(
    "path",
    [SITE.main(f"<h2 id=i>Install{mark}</h2><p>{SENTENCE}</p>") for mark in PERMALINKS.values()],
    ids=PERMALINKS.keys(),
)
def test_marks_beside_a_heading_are_no_part_of_it(rows: Mapping[str, Page], path: str) -> None:
    markdown = rows[path].markdown or ""
    assert "## Install\n" in markdown
    assert not any(mark in markdown for mark in ("¶", "\u200b", "Permalink", "Direct", "edit"))


GUARDED = SITE.nav_heavy(300, f"<p>{SENTENCE * 10}</p><form><pre>x = 1</pre></form>")


def test_a_nav_heavy_page_whose_code_would_be_lost_stays_whole(rows: Mapping[str, Page]) -> None:
    row = rows[GUARDED]
    assert (row.chosen, row.outcome) == ("raw", "ok")
    assert "loses code" in (row.chosen_reason or "")
    assert fences(row.markdown or "") == [("", "x = 1\n")]
