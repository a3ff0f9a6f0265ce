import pytest

from qindex_pipeline.crawl.extract.extraction import Extraction, extract
from qindex_pipeline.crawl.extract.markdown import to_markdown

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa "
LONG = f"<p>{WORDS * 6}</p>"


def extracted(body: str, head: str = "") -> Extraction:
    html = f"<html lang=en><head>{head}</head><body>{body}</body></html>"
    return extract(html, "https://x.org/docs/page")


def main(content: str) -> Extraction:
    return extracted(f"<main>{content}{LONG}</main>")


@pytest.mark.parametrize(
    ("body", "selector"),
    [
        (f"<main><article>{LONG}</article></main>", "main article"),
        (f"<div role=main>{LONG}</div>", "[role=main]"),
        (f"<div><div id=content>{LONG}</div></div>", "#content"),
        (f"<div class=document><div class=body>{LONG}</div></div>", "div.document div.body"),
        (f"<main><article>{LONG}</article><pre>x = 1</pre></main>", "main"),
        ("<main>" + f"<article>{LONG}</article>" * 3 + "</main>", "main"),
        ("<main><h1>Short</h1><p>Only few words here.</p></main>" + LONG, "main"),
        (f"<div id=yui-main>{LONG}</div>", "#yui-main"),
        (f"<div>{LONG}</div>", None),
        (f"<main>too few</main><div>{LONG}</div>", None),
    ],
)
def test_the_container_is_the_first_selector_that_holds_the_content(
    body: str, selector: str | None
) -> None:
    assert extracted(body).selector == selector


@pytest.mark.parametrize(
    "noise",
    [
        "<nav>NOISE</nav>",
        "<footer>NOISE</footer>",
        "<aside>NOISE</aside>",
        "<header>NOISE</header>",
        "<form>NOISE</form>",
        "<script>NOISE</script>",
        "<style>NOISE</style>",
        "<template>NOISE</template>",
        "<!-- NOISE -->",
        "<button>NOISE</button>",
        "<svg><text>NOISE</text></svg>",
        '<div class="breadcrumbs">NOISE</div>',
        '<div class="toc">NOISE</div>',
        '<a href="/next" rel="next">NOISE</a>',
        '<span class="sr-only">NOISE</span>',
        '<nav class="pagination-nav"><a href="/n">NOISE</a></nav>',
        '<img src="data:image/png;base64,NOISE" alt="a picture">',
        '<img src="/NOISE.png">',
        '<a href="/NOISE"></a>',
        '<a href="/NOISE"><button>Go</button></a>',
        '<a href="/x" title="NOISE">x</a>',
        '<div class="nav"><a href="/n">NOISE</a> | <a href="/m">more</a></div>',
        '<div class="nosearch"><a href="/">NOISE of</a> the site</div>',
        '<div id="footer">NOISE</div>',
        '<div class="navheader"><a href="/n">NOISE</a></div>',
        '<p>Languages: <a href="/de" hreflang="de" rel="alternate">NOISE</a></p>',
        '<dl><dt>f()<a href="/src"><span class="viewcode-link">NOISE</span></a></dt></dl>',
        '<p><a href="javascript:NOISE()">show</a></p>',
    ],
)
def test_noise_is_not_content(noise: str) -> None:
    assert "NOISE" not in main(f"<h1>T</h1>{noise}<p>text</p>").markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<aside class="admonition note"><p>kept</p></aside>', "kept"),
        ("<aside role=note><p>kept</p></aside>", "kept"),
        ('<aside class=sidebar><p class="sidebar-title">Important</p>kept</aside>', "kept"),
        ('<div class=nosearch><p class="fancy_title">kept</p><a href=#a>a</a></div>', "kept"),
        ("<table class=related><tr><td>kept</td></tr></table>", "kept"),
        ("<form><p>Copy this:</p><pre>x = 1</pre></form>", "```\nx = 1\n```"),
        ('<div class="menu"><p>Choose kept in it, or <a href=/x>leave</a>.</p></div>', "kept"),
        ('<p>See the <a hreflang=de href="/de">German page</a>.</p>', "German page"),
        ("<p>a <b>one</b>\n  <i>two</i></p>", "**one** *two*"),
        ("<p>one<br>two</p>", "one  \ntwo"),
        ("<dl><dt><b>mode=ro<br>mode=rw</b></dt><dd>x</dd></dl>", "**mode=ro mode=rw**"),
        ("<h2>Two<br>words</h2>", "## Two words"),
        ("<p>the prefix 0` and <code>x</code></p>", r"0\` and `x`"),
        ("<h2><button>Is it kept?</button></h2>", "## Is it kept?"),
        ("<div role=tabpanel hidden><p>kept</p></div>", "kept"),
        ('<p>See <a href="../b">b</a>.</p>', "See [b](https://x.org/b)."),
        ("<p>a <b>b</b> <i>c</i> <code>d|e</code></p>", "a **b** *c* `d|e`"),
        ('<div class="admonition"><p class="admonition-title">Note</p><p>x</p></div>', "**Note**"),
        ('<div class="note"><h3 class="title">Note</h3><p>x</p></div>', "**Note**"),
        (
            (
                "<div class=admonitionblock><table><tr><td class=icon><div class=title>Tip</div>"
                "</td><td class=content>Try it.</td></tr></table></div>"
            ),
            "**Tip**\n\nTry it.",
        ),
        (
            (
                "<dl><dt>csv.reader(<em>file</em>)<a class=headerlink href=#x>¶</a></dt>"
                "<dd><p>Reads.</p></dd></dl>"
            ),
            "**csv.reader(file)**\n\nReads.",
        ),
        ('<a href="/c"><h3>Card</h3><p>Text of it</p></a>', "### Card\n\nText of it"),
        ("<p>zero\u200bwidth</p>", "zerowidth"),
        (
            "<table><tr><td>rank:\n<pre>\n a = 1\n b = 2\n</pre></td><td>next</td></tr></table>",
            "rank:\n\n```\n a = 1\n b = 2\n```\n\nnext",
        ),
        (
            "<table><tr><th>k</th></tr><tr><td><code>a|b</code></td></tr></table>",
            "| k |\n| --- |\n| `a\\|b` |",
        ),
    ],
)
def test_content_reads_as_a_person_would_quote_it(html: str, expected: str) -> None:
    assert expected in main(f"<h1>T</h1>{html}").markdown


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<h2 id=a>Text</h2>", (2, "Text", "a")),
        ("<section id=a><h2>Text</h2></section>", (2, "Text", "a")),
        ("<div class=section id=a><span id=b></span><h2>Text</h2></div>", (2, "Text", "b")),
        (
            "<div class=sect1 id=a><div class=titlepage><h2>Text</h2></div></div>",
            (2, "Text", "a"),
        ),
        ("<h3><a name=a></a>Text</h3>", (3, "Text", "a")),
        ("<a name=a></a><h3>Text</h3>", (3, "Text", "a")),
        ('<h2>Text<a class=headerlink href="#a">¶</a></h2>', (2, "Text", "a")),
        ('<h2><a href="#a">Text</a></h2>', (2, "Text", "a")),
        ('<h2><a aria-hidden=true href="#a">#</a> Text</h2>', (2, "Text", "a")),
        ('<h2 id=a>Text<a class="hash-link" href="#a">\u200b</a></h2>', (2, "Text", "a")),
        ("<div id=content><h2>Text</h2></div>", (2, "Text", None)),
        ("<section id=a><p>x</p><h2>First</h2><h3>Text</h3></section>", (3, "Text", None)),
    ],
)
def test_headings_know_their_anchor_and_lose_their_permalink(
    html: str, heading: tuple[int, str, str | None]
) -> None:
    result = main(html)
    last = result.headings[-1]
    assert (last["level"], last["text"], last["anchor"]) == heading
    assert f"{'#' * heading[0]} {heading[1]}\n" in result.markdown + "\n"


def test_headings_are_those_of_the_main_content_in_its_order() -> None:
    result = extracted(f"<nav><h2>Menu</h2></nav><main><h1>A</h1><h3>B</h3>{LONG}</main>")
    assert [heading["text"] for heading in result.headings] == ["A", "B"]


def test_an_h1_outside_the_container_is_brought_back_with_what_its_header_says() -> None:
    body = (
        f"<div id=header><h1>tool(1)</h1><h2>NAME</h2><p>tool - works</p></div><main>{LONG}</main>"
    )
    result = extracted(body)
    assert result.markdown.startswith("# tool(1)\n\n## NAME\n\ntool - works\n")
    assert result.h1 == "tool(1)"


def test_the_summary_is_the_first_running_text() -> None:
    note = '<div class="admonition"><p>This note is not what the page is about.</p></div>'
    links = "<p><a href=/a>one two three</a> <a href=/b>four five six seven</a></p>"
    text = "<p>It is the tool that does the work.</p>"
    assert main(note + "<p>Too short.</p>" + links + text).summary == text[3:-4]


def test_without_running_text_the_description_is_the_summary() -> None:
    head = '<meta name="description" content="What it is.">'
    assert extracted("<main><h1>A</h1><p>b c d e</p></main>", head).summary == "What it is."


def test_a_long_summary_ends_at_a_word_within_300_characters() -> None:
    summary = main(f"<p>{WORDS * 20}</p>").summary or ""
    assert len(summary) <= 300
    assert summary.endswith("…")
    assert summary[:-1].split()[-1] in WORDS.split()


def test_the_whole_page_is_kept_beside_the_content() -> None:
    result = extracted(f"<nav>menu of all</nav><main>{LONG}</main>")
    assert "menu of all" in result.raw_markdown
    assert result.raw_words == result.main_words + 3


def test_navigation_that_is_most_of_the_page_goes_too() -> None:
    menu = "<li><a href=/m>menu entry</a></li>" * 400
    assert "menu" not in extracted(f"<nav><ul>{menu}</ul></nav><div>{LONG}</div>").markdown


@pytest.mark.parametrize("wrapper", ["form", "header", "section class=toc"])
def test_a_wrapper_of_the_whole_page_is_not_noise(wrapper: str) -> None:
    assert "alpha beta" in extracted(f"<{wrapper}>{LONG}").markdown


TAB_A, TAB_B = "<p>run a</p>", "<p>run b</p>"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            '<div class="tabbed-set"><input type=radio><input type=radio>'
            "<div class=tabbed-labels><label>Mac</label><label>Linux</label></div>"
            "<div class=tabbed-content>"
            f"<div class=tabbed-block>{TAB_A}</div><div class=tabbed-block>{TAB_B}</div>"
            "</div></div>",
            id="mkdocs",
        ),
        pytest.param(
            '<div class="vp-code-group"><div class="tabs"><input type=radio><label>Mac</label>'
            "<input type=radio><label>Linux</label></div><div class=blocks>"
            f"<div>{TAB_A}</div><div>{TAB_B}</div></div></div>",
            id="vitepress",
        ),
        pytest.param(
            '<div><ul role="tablist"><li role="tab">Mac</li><li role="tab">Linux</li></ul>'
            f'<div><div role="tabpanel">{TAB_A}</div><div role="tabpanel" hidden>{TAB_B}</div>'
            "</div></div>",
            id="docusaurus",
        ),
        pytest.param(
            '<div><div role="tablist"><button role="tab">Mac</button><button role="tab">Linux'
            f'</button></div><div role="tabpanel">{TAB_A}</div>'
            f'<div role="tabpanel">{TAB_B}</div></div>',
            id="sphinx-tabs",
        ),
    ],
)
def test_each_tab_stands_below_its_label(html: str) -> None:
    assert "**Mac**\n\nrun a\n\n**Linux**\n\nrun b" in main(html).markdown


def test_panels_within_the_list_of_tabs_are_kept() -> None:
    html = f'<div role=tablist><p role=tab>Mac</p><div role="tabpanel">{TAB_A}</div></div>'
    assert "Mac\n\nrun a" in main(html).markdown


def test_tabs_without_their_panels_stay_apart() -> None:
    html = "<div role=tablist><span role=tab>Mac</span><span role=tab>Linux</span></div>"
    assert "**Mac**\n\n**Linux**" in main(html).markdown


@pytest.mark.parametrize(
    "around",
    [
        "<p>before</p>{}<p>after</p>",
        "before {} after",
        "<blockquote>{}</blockquote>",
        "<ul><li>x<ul><li>{}</li></ul></li></ul>",
        "<p>before</p>{}",
        "{}",
    ],
)
def test_the_markdown_of_the_whole_page_is_that_of_one_conversion(around: str) -> None:
    code = "<pre><code>x = 1\n\ny</code></pre>"
    html = around.format(f"<main><h1>T</h1>{code}<ul><li>a</li></ul>{LONG}</main>")
    whole = to_markdown(f"<body>{html}</body>", "https://x.org/docs/page")
    result = extracted(html)
    assert (result.selector, result.raw_markdown) == ("main", whole)
