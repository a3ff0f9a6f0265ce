import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.discovery import twins
from qindex_pipeline.crawl.discovery.twins import (
    TwinFinder,
    fetch_twin,
    is_markdown,
    parse_llms_txt,
    read_llms_txt,
    without_front_matter,
)
from qindex_pipeline.crawl.fetch.http import HttpFetcher
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Reply, Server, redirect, serving

T = TypeVar("T")
URL = "https://x.org/docs/llms.txt"
LLMS_TXT = """\
# Project

> A summary with a [link](/summary.md).

Details, and a list before the sections:

- [before](/before.md)

## Docs

- [Quick start](start.html.md): how to begin; see [elsewhere](/elsewhere.md)
- **[Guide](/guide.md#part)**
- [Again](./start.html.md)
- [Page](https://x.org/page)
- no link
- `[code](/code.md)`
- [Mail](mailto:a@x.org)

A paragraph with a [link](/paragraph.md).

### Deeper

1. [Deep](/deep.md)
   - [Deeper](/deeper.md)

```
- [fenced](/fenced.md)
```

## Optional

- [Other](https://y.org/other.md)
"""


def test_llms_txt_gives_the_links_of_its_sections_in_order_each_once() -> None:
    assert parse_llms_txt(LLMS_TXT, URL) == (
        "https://x.org/docs/start.html.md",
        "https://x.org/guide.md",
        "https://x.org/page",
        "https://x.org/deep.md",
        "https://x.org/deeper.md",
        "https://y.org/other.md",
    )


@pytest.mark.parametrize("start", ["\ufeff", "\n\n", "<!-- made by x -->\n"])
def test_what_stands_before_the_title_and_is_not_shown_does_not_matter(start: str) -> None:
    assert parse_llms_txt(start + LLMS_TXT, URL) == parse_llms_txt(LLMS_TXT, URL)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<!doctype html><html><body><h1>x</h1><ul><li><a href=a>a</a></ul></body></html>",
        "User-agent: *\nDisallow: /",
        '{"error": "not found"}',
        "## Docs\n\n- [a](/a.md)",
        "# Only a title",
        "# T\n\n- [a](/a.md)",
    ],
)
def test_anything_else_is_no_llms_txt(text: str) -> None:
    assert parse_llms_txt(text, URL) == ()


@given(st.text(max_size=60).map("# T\n\n## S\n\n- [a](b) {}".format))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(link.startswith("https://x.org/") for link in parse_llms_txt(text, URL)[:1])


@pytest.mark.parametrize(
    ("page", "listed", "expected"),
    [
        ("/a/b", "/a/b.md", True),
        ("/a/b", "/a/b.html.md", True),
        ("/a/b.html", "/a/b.md", True),
        ("/a/b.html", "/a/b.html.md", True),
        ("/a/", "/a/index.md", True),
        ("/a/", "/a/index.html.md", True),
        ("/a/", "/a.md", True),
        ("/", "/index.md", True),
        ("/", "/index.html.md", True),
        ("/", "/.md", False),
        ("/a/b", "/a/c.md", False),
        ("/a/b", "/b.md", False),
        ("/a/b?x=1", "/a/b.md", False),
        ("/a/b.md", "/a/b.md", False),
        ("/a/b.md", "/a/b.md.md", False),
    ],
)
def test_a_listed_file_is_the_twin_of_the_page_whose_name_it_has(
    page: str, listed: str, expected: bool
) -> None:
    twin = TwinFinder(("https://x.org/other.md", f"https://x.org{listed}")).twin_of(
        f"https://x.org{page}"
    )
    assert twin == (f"https://x.org{listed}" if expected else None)


def test_an_announced_twin_counts_before_a_listed_one_and_a_page_is_not_its_own() -> None:
    finder = TwinFinder(("https://x.org/a.md",))
    assert finder.twin_of("https://x.org/a", "https://x.org/raw/a") == "https://x.org/raw/a"
    assert finder.twin_of("https://x.org/a.md", "https://x.org/a.md") is None


def test_a_site_that_names_nothing_has_no_twins() -> None:
    assert TwinFinder().twin_of("https://x.org/a") is None
    assert TwinFinder().pages() == ()


@pytest.mark.parametrize(
    ("accept_text", "expected"),
    [
        (False, ["/b", "/c.html", "/d/"]),
        (True, ["/b", "/c.html", "/d/", "/a.md", "/llms-full.txt"]),
    ],
)
def test_listed_pages_are_seeds_and_texts_only_where_text_is_accepted(
    accept_text: bool, expected: list[str]
) -> None:
    links = ("/a.md", "/b", "/b.md", "/c.html.md", "/c.html", "/d/", "/d.md", "/llms-full.txt")
    finder = TwinFinder(tuple(f"https://x.org{link}" for link in links), accept_text)
    assert [url.removeprefix("https://x.org") for url in finder.pages()] == expected


LONG = "word " * 90


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\n\nA short text under it.", True),
        ("<!-- comment -->\n# Title\n\nA short text under it.", True),
        ('<div align="center">\n<img src="a.png">\n</div>\n\n# Title\n\nText of the page.', True),
        ("[Home](/) and [more](/more) of the pages here", True),
        ("Handling a 404: what to do when pages are not found", True),
        (f"# 404 and other statuses\n\n{LONG}", True),
        ("", False),
        ("# One two three", False),
        ("\n <!DOCTYPE html>\n<html><body>" + LONG, False),
        ("<html lang=en><body>" + LONG, False),
        ("<!-- a --> <!-- b -->\n<html><body>" + LONG, False),
        ('<?xml version="1.0"?><Error><Message>' + LONG, False),
        ('{"error": "the page that you asked for is not here"}', False),
        ('["a b c d e f g h"]', False),
        ("[" * 100_000 + " a b c d e", True),
        ("404 page not found on this server", False),
        ("# Page Not Found\n\nThe page you asked for does not exist.", False),
        ("Error: could not find the page /a/b", False),
        ("Access denied to this page for everyone", False),
        ("Internal Server Error: please try again later", False),
        ("a text with\0 a binary part in it", False),
    ],
)
def test_a_twin_is_markdown_and_no_error(text: str, expected: bool) -> None:
    assert is_markdown(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: A\ntags: [b]\n---\n\n# A", "# A"),
        ('---  \n"title": A\n...\n# A', "# A"),
        ("---\ntitle: A\n---", ""),
        ("---\ntitle: A\n", "---\ntitle: A\n"),
        ("---\n\n# A\n\n---\n", "---\n\n# A\n\n---\n"),
        ("# A\n\n---\nb: c\n---\n", "# A\n\n---\nb: c\n---\n"),
        ("---\na: |\n  x --- y\n  ---\n---\nB", "B"),
        ("", ""),
    ],
)
def test_front_matter_is_no_text_and_a_rule_is_no_front_matter(text: str, expected: str) -> None:
    assert without_front_matter(text) == expected


MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}


def asked(
    server: Server, question: Callable[[HttpFetcher, Callable[[str], Outcome | None]], Awaitable[T]]
) -> T:
    """Ask with a real fetcher; the gate lets only the server's own host through."""

    def gate(url: str) -> Outcome | None:
        is_own = urlsplit(url).netloc == urlsplit(server.base).netloc
        return None if is_own else Outcome.OUT_OF_SCOPE_REDIRECT

    async def run() -> T:
        site = Site(key="hostile", start_url=server.base, retries=0)
        async with HttpFetcher(site, Addresses()) as fetcher:
            return await question(fetcher, gate)

    return asyncio.run(run())


def fetched(server: Server, url: str) -> str | None:
    return asked(server, lambda fetcher, gate: fetch_twin(fetcher, url, gate))


def listed(server: Server, start: str = "/") -> tuple[str, ...]:
    return asked(server, lambda fetcher, gate: read_llms_txt(fetcher, server.base + start, gate))


def test_a_twin_comes_without_front_matter_and_with_links_from_where_it_was_found() -> None:
    body = "\ufeff---\r\ntitle: A\r\n---\r\n# Ä\r\n\r\nRead the [next](b.md) page now."
    with serving({"/a.md": redirect("/raw/a.md")}) as server:
        server.routes["/raw/a.md"] = Reply(body.encode(), headers=MARKDOWN)
        assert fetched(server, f"{server.base}/a.md") == (
            f"# Ä\n\nRead the [next]({server.base}/raw/b.md) page now."
        )


def test_markdown_that_quotes_a_meta_element_keeps_its_encoding() -> None:
    text = 'Ä page may say `<meta charset="latin-1">` in its head.'
    with serving({"/a.md": Reply(text.encode(), headers={})}) as server:
        assert fetched(server, f"{server.base}/a.md") == text


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<!doctype html><html><body>the application answers everything here</body></html>"),
        Reply(b"", headers=MARKDOWN),
        Reply(b"# Gone\n\nbut many more than five words", 404, MARKDOWN),
        Reply(b"404 page not found on this server", headers=MARKDOWN),
        redirect("https://example.com/a.md"),
        redirect("/a.md"),
    ],
)
def test_what_is_no_markdown_is_no_twin(reply: Reply) -> None:
    with serving({"/a.md": reply}) as server:
        assert fetched(server, f"{server.base}/a.md") is None


def test_a_twin_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "MAX_BYTES", 100)
    with serving({"/a.md": Reply(b"word " * 21, headers=MARKDOWN)}) as server:
        assert fetched(server, f"{server.base}/a.md") is None


def test_a_twin_on_another_host_is_not_requested() -> None:
    with serving({}, "127.0.0.2") as other, serving({}) as server:
        assert fetched(server, f"{other.base}/a.md") is None
        assert not other.asked


@pytest.mark.parametrize("path", ["/llms.txt", "/project/llms.txt"])
def test_llms_txt_stands_beside_the_start_page_or_at_the_root(path: str) -> None:
    with serving({path: Reply(b"# T\n\n## S\n\n- [a](a.md)", headers={})}) as server:
        base = server.base + path.removesuffix("llms.txt")
        assert listed(server, "/project/") == (f"{base}a.md",)


def test_a_site_that_answers_with_its_application_has_no_llms_txt() -> None:
    with serving({"/llms.txt": Reply(b"<!doctype html><h1>app</h1>")}) as server:
        assert listed(server) == ()
        assert server.asked == {"/llms.txt": 1}
