"""A site of pages that tests write down, crawled once for all of them."""

from collections.abc import Mapping

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.crawl import Page
from qindex_pipeline_tests.crawl.hostile import HTML, Reply, crawled, page, serving

SENTENCE = "The tool reads the file and writes the result to the disk of the host. "


class WrittenSite:
    """Pages by path; a start page that links to all of them."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}

    def page(self, body: str | bytes, content_type: str = HTML) -> str:
        """Add a page to the site; its path."""
        path = f"/case{len(self.pages)}"
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = Reply(data, headers={"Content-Type": content_type})
        return path

    def main(self, html: str) -> str:
        """A page with this in its main element, under a heading and a paragraph."""
        number = len(self.pages)
        about = f"<h1>Topic {number}</h1><p>Text number {number}. {SENTENCE * 4}</p>"
        return self.page(f"<title>T</title><main>{about}{html}</main>")

    def nav_heavy(self, entries: int, html: str) -> str:
        """A page without a container: that many links of two words, then the content."""
        menu = "".join(f'<li><a href="#to-{n:04}">menu entry</a></li>' for n in range(entries))
        own = f"<p>Text number {len(self.pages)} of this site.</p>"
        return self.page(f"<title>T</title><body><div><ul>{menu}</ul></div><div>{html}{own}</div>")

    def encoded(self, text: str, charset: str, content_type: str, *, meta: bool = False) -> str:
        """A page with this heading in an encoding, which its meta element may name."""
        number = len(self.pages)
        head = f"<meta charset={charset}>" if meta else ""
        about = f"<p>Text number {number}. {SENTENCE}</p>"
        html = f"{head}<title>T</title><main><h1>{text} {number}</h1>{about}</main>"
        return self.page(html.encode(charset), content_type)

    def rows(self) -> Mapping[str, Page]:
        """The rows of all pages, by path."""
        with serving({"/": page("start", *self.pages), **self.pages}) as server:
            return crawled(server, max_pages=200, sitemap="off")


def tokens(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(markdown)


def fences(markdown: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks."""
    return [(token.info, token.content) for token in tokens(markdown) if token.type == "fence"]
