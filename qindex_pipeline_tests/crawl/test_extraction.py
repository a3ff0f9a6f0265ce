import pytest

from qindex_pipeline.crawl.extraction import Extraction, extract

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
        (f"<div>{LONG}</div>", "body"),
        (f"<main>too few</main><div>{LONG}</div>", "body"),
    ],
)
def test_the_container_is_the_first_selector_that_holds_the_content(
    body: str, selector: str
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
    ],
)
def test_noise_is_not_content(noise: str) -> None:
    assert "NOISE" not in main(f"<h1>T</h1>{noise}<p>text</p>").markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<aside class="admonition note"><p>kept</p></aside>', "kept"),
        ("<aside role=note><p>kept</p></aside>", "kept"),
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


def test_the_head_says_language_title_canonical_and_links() -> None:
    head = (
        '<title> The \n title </title><base href="/base/"><link rel=canonical href="c">'
        '<meta name="Robots" content="NoIndex">'
    )
    body = '<a href="x">1</a><a href="x#y">2</a><a href="#z">3</a><a rel=nofollow href="n">4</a>'
    facts = extracted(body, head).head
    assert (facts.lang, facts.title, facts.noindex) == ("en", "The title", True)
    assert facts.canonical_url == "https://x.org/base/c"
    assert facts.links == ("https://x.org/base/x",)


@pytest.mark.parametrize("html", ["", "<", "\0", "<frameset><frame></frameset>", "<p>" * 3000])
def test_broken_html_is_no_error(html: str) -> None:
    assert extract(html, "https://x.org/").main_words <= 1


SENTENCE = "The tool reads the file and writes the result to disk. "  # 11 words


def nav_page(entries: int, text: str) -> Extraction:
    """A page without container: links of two words each, then the text."""
    menu = "".join(
        f'<li><a href="/a/long/way/to/{n:04}">menu entry</a></li>' for n in range(entries)
    )
    return extracted(f"<div><ul>{menu}</ul></div><div>{text}</div>")


@pytest.mark.parametrize(
    ("entries", "chosen"),
    [(171, "fit"), (159, "main")],  # 452 and 428 words, 4.1 and 3.9 times the 110 of the text
)
def test_a_nav_heavy_page_without_container_becomes_its_fit_text(entries: int, chosen: str) -> None:
    result = nav_page(entries, f"<p>{SENTENCE * 10}</p>")
    assert result.chosen == chosen
    assert result.nav_ratio == pytest.approx((entries * 2 + 110) / 110)
    assert ("menu entry" in result.markdown) is (chosen == "main")


def test_the_nav_rule_is_not_asked_where_there_is_a_container() -> None:
    menu = "<li><a href=/m>menu entry</a></li>" * 400
    result = extracted(f"<div><ul>{menu}</ul></div><div role=main>{LONG}</div>")
    assert (result.chosen, result.selector, result.nav_ratio) == ("main", "[role=main]", None)


def test_navigation_that_is_most_of_the_page_goes_too() -> None:
    menu = "<li><a href=/m>menu entry</a></li>" * 400
    assert "menu" not in extracted(f"<nav><ul>{menu}</ul></nav><div>{LONG}</div>").markdown


@pytest.mark.parametrize("wrapper", ["form", "header", "section class=toc"])
def test_a_wrapper_of_the_whole_page_is_not_noise(wrapper: str) -> None:
    assert "alpha beta" in extracted(f"<{wrapper}>{LONG}").markdown


@pytest.mark.parametrize(
    ("text", "chosen", "reason"),
    [
        (f"<p>{SENTENCE * 4}</p>", "main", "fit has 44 words"),
        (f"<p>{SENTENCE * 10}</p><form><pre>x = 1</pre></form>", "raw", "fit loses code"),
    ],
)
def test_the_nav_rule_spares_pages_that_would_lose_text_or_code(
    text: str, chosen: str, reason: str
) -> None:
    result = nav_page(300, text)
    assert (result.chosen, reason in result.chosen_reason) == (chosen, True)
    assert SENTENCE.strip() in result.markdown
    assert ("```\nx = 1\n```" in result.markdown) is (chosen == "raw")
