from html import escape

import pytest

from qindex_pipeline.crawl.extract.head import Head, read_head
from qindex_pipeline.crawl.extract.parsing import parse

URL = "https://x.org/docs/page"


def head(inside: str, body: str = "", html: str = "<html lang=en>") -> Head:
    return read_head(parse(f"{html}<head>{inside}</head><body>{body}</body></html>"), URL)


def test_the_head_says_language_title_description_and_canonical_url() -> None:
    facts = head(
        '<title> The \n title </title><base href="/base/"><link rel=canonical href="c">'
        '<meta name="Description" content="What it is.">'
    )
    assert (facts.lang, facts.title, facts.title_raw) == ("en", "The title", "The title")
    assert facts.description == "What it is."
    assert (facts.base_url, facts.canonical_url) == ("https://x.org/base/", "https://x.org/base/c")


def test_a_page_that_says_nothing_has_no_facts() -> None:
    assert head("", html="<html>") == Head(base_url=URL)


def test_the_title_for_sharing_comes_before_the_title_of_the_window() -> None:
    facts = head('<title>Page | Site</title><meta property="og:title" content=" The \n page ">')
    assert (facts.title, facts.og_title, facts.title_raw) == ("The page", "The page", "Page | Site")
    assert head('<title>A</title><meta property="og:title" content=" ">').title == "A"


def test_the_language_of_xhtml_is_read() -> None:
    assert head("", html='<html xml:lang="pt-BR">').lang == "pt-BR"


@pytest.mark.parametrize(
    ("metas", "robots", "noindex", "nofollow"),
    [
        ("", None, False, False),
        ("<meta name=Robots content=' NoIndex , archive'>", "noindex, archive", True, False),
        ("<meta name=robots content=nofollow>", "nofollow", False, True),
        ("<meta name=robots content=none>", "none", True, True),
        ("<meta name=googlebot content=noindex>", None, False, False),
        (
            "<meta name=robots content=index><meta name=QIndexBot content='noindex,index'>",
            "index, noindex",
            True,
            False,
        ),
    ],
)
def test_robots_metas_for_all_and_for_us_are_obeyed(
    metas: str, robots: str | None, noindex: bool, nofollow: bool
) -> None:
    facts = head(metas, "<a href=b>b</a>")
    assert (facts.robots, facts.noindex, facts.nofollow) == (robots, noindex, nofollow)
    assert facts.links == ("https://x.org/docs/b",)


def test_links_are_absolute_in_document_order_and_each_once() -> None:
    body = (
        '<a href="b">1</a><a href="/c#d">2</a><a href="b#e">3</a><a href="#z">4</a>'
        '<map><area href="https://y.org/"></map><a href="mailto:x@y.org">5</a><a>6</a>'
    )
    assert head("", body).links == (
        "https://x.org/docs/b",
        "https://x.org/c",
        "https://y.org/",
    )


def test_a_link_of_only_a_query_is_one_to_the_page_itself() -> None:
    assert head("", "<a href='?v=2'>v2</a>").links == (f"{URL}?v=2",)


def test_links_marked_nofollow_stand_apart_unless_another_link_leads_there() -> None:
    body = '<a rel="external NoFollow" href=a>1</a><a rel=nofollow href=b>2</a><a href=b>3</a>'
    facts = head("", body)
    assert facts.links == ("https://x.org/docs/b",)
    assert facts.nofollow_links == ("https://x.org/docs/a",)


@pytest.mark.parametrize(
    "content", ["0; url=latest/", "0;URL='latest/'", '5 ; url = "latest/"', "0; Url=./latest/"]
)
def test_a_page_that_forwards_leads_first_to_its_target(content: str) -> None:
    facts = head(f'<meta http-equiv=Refresh content="{escape(content)}">', "<a href=b>b</a>")
    assert facts.links == ("https://x.org/docs/latest/", "https://x.org/docs/b")


def test_a_page_that_only_reloads_itself_leads_nowhere() -> None:
    assert head("<meta http-equiv=refresh content=30>").links == ()


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ('<link rel="alternate" type="text/markdown" href="page.md">', f"{URL}.md"),
        ('<link rel="Alternate nofollow" type="Text/Markdown" href="/m.md">', "https://x.org/m.md"),
        ('<link rel="alternate" type="application/rss+xml" href="feed">', None),
        ('<link rel="alternate" hreflang="de" href="/de">', None),
    ],
)
def test_a_markdown_twin_is_found(link: str, url: str | None) -> None:
    assert head(link).markdown_url == url
