"""A documentation site that does everything at once that was ever seen to go wrong.

`CASES` says of each address, in the order of the links, what it answers and what must become of
it; `None` means that nobody may ask for it. What strains a host (time-outs, resets, 5xx) stands
between addresses that answer, as it would on a site that is up.
"""

import asyncio
import gzip
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from qindex_pipeline_tests.crawl.background import (
    Endless,
    ForbiddenHost,
    forbidden_host,
    said,
    talking_beside,
)
from qindex_pipeline_tests.crawl.hostile import Reply, page
from qindex_pipeline_tests.crawl.sockets import Answer, Asked, Server, moved, reply

ERROR_MARK = "ERRORPAGE"
"""Stands in every page that a server sends in place of the one that was asked for."""
PRIVATE = "http://10.0.0.1/"
MAX_HTML_BYTES = 100_000
PDF = b"%PDF-1.7\n" + b"1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj words of a book " * 9
_HTML = {"Content-Type": "text/html"}


@dataclass(frozen=True)
class Case:
    """One address: the link that leads to it, its answer, and its outcome.

    `path` is the address as it has to be asked, where the link is another spelling of it; a
    link that is None stands on another page than the first.
    """

    link: str | None
    answer: Answer | None
    outcome: str | None
    path: str = ""

    @property
    def target(self) -> str:
        return self.path or self.link or ""


@dataclass(frozen=True)
class HostileSite:
    """The site as it runs, and the host beside it."""

    server: Server
    other: ForbiddenHost
    cases: tuple[Case, ...]


def good(text: str, *links: str, head: str = "", **headers: str) -> bytes:
    made = page(text, *links, head=head)
    return said(Reply(made.body, headers={**_HTML, **headers}))


def bad(status: str, **headers: str) -> bytes:
    return reply(page(f"{ERROR_MARK} {status}").body, status, **headers)


def typed(body: bytes, content_type: str) -> bytes:
    return reply(body, Content_Type=content_type)


def after(*answers: bytes) -> Answer:
    """Gives each of the answers once, the last one for ever."""
    counts = Counter[str]()

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        turn = min(counts[asked.target], len(answers) - 1)
        counts[asked.target] += 1
        writer.write(answers[turn])

    return answer


async def hush(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(b"", Content_Length="1000"))
    while True:
        writer.write(b"<p>")
        await writer.drain()
        await asyncio.sleep(0.02)


async def hang_up(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def robots(other: str) -> bytes:
    lines = [
        "User-agent: *", "Disallow: /", "",
        "User-agent: QIndexBot", "Disallow: /private/", "Allow: /private/open", "Disallow: /*.php$",
        f"Sitemap: {other}/sitemap.xml", f"Sitemap: {PRIVATE}sitemap.xml",
    ]  # fmt: skip
    return typed("\n".join(lines).encode(), "text/plain")


def sitemaps(base: str, other: str) -> dict[str, Answer]:
    """An application under the first well-known address, an index under the second."""
    pages = [f"{base}/from-sitemap", f"{other}/from-sitemap", f"{PRIVATE}x", f"{base}/private/map"]
    files = [f"{base}/map.xml.gz", f"{other}/map.xml", f"{base}/map-away.xml"]
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in pages)
    index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in files)
    packed = gzip.compress(f"<urlset>{listed}</urlset>".encode())
    return {
        "/sitemap.xml": good("application"),
        "/sitemap_index.xml": typed(f"<sitemapindex>{index}</sitemapindex>".encode(), "text/xml"),
        "/map.xml.gz": typed(packed, "application/gzip"),
        "/map-away.xml": moved(f"{other}/map.xml"),
    }


def failures() -> list[Case]:
    """What strains the host, each before an address that answers."""
    strains = [
        Case("/hush", hush, "total_timeout"),
        Case("/drip", drip, "total_timeout"),
        Case("/reset", hang_up, "reset"),
        Case("/status-line", b"HTTP/1.1 banana\r\n\r\n", "reset"),
        Case("/header-bomb", reply(b"", X="a" * 200_000), "reset"),
        Case("/429-always", bad("429 Slow"), "http_429"),
        Case("/boom", bad("500 Boom"), "http_5xx"),
        Case("/cut", reply(b"<p>half", Content_Length="99"), "truncated"),
    ]
    answers = [
        Case("/missing", bad("404 Not Found"), "http_404"),
        Case("/gone", bad("410 Gone"), "http_410"),
        Case("/login", bad("401 Unauthorized"), "http_401"),
        Case("/forbidden", bad("403 Forbidden"), "http_403"),
        Case("/teapot", bad("418 Teapot"), "http_4xx"),
        Case("/unasked-304", reply(b"", "304 Not Modified"), "http_4xx"),
        Case("/choices", bad("300 Multiple Choices"), "http_4xx"),
        Case("/nothing", reply(b"", "204 No Content"), "empty_content"),
    ]
    return [case for pair in zip(strains, answers, strict=True) for case in pair]


def redirects(other: str) -> list[Case]:
    hops = {f"/hop{n}": moved(f"/hop{n + 1}") for n in range(1, 9)}
    return [
        Case("/redir-ext", moved(f"{other}/landing"), "out_of_scope_redirect"),
        Case("/redir-private", moved(PRIVATE), "out_of_scope_redirect"),
        Case("/redir-metadata", moved("http://169.254.169.254/latest/"), "out_of_scope_redirect"),
        Case("/redir-robots", moved("/private/x"), "robots_disallowed"),
        Case("/redir-mail", moved("mailto:x@y.z"), "out_of_scope_redirect"),
        Case("/redir-broken", moved("http://[::1"), "out_of_scope_redirect"),
        Case("/redir-nowhere", reply(b"", "302 Found"), "http_4xx"),
        Case("/redir-self", moved("/redir-self"), "redirect_loop"),
        Case("/loop1", moved("/loop2"), "redirect_loop"),
        Case(None, moved("/loop1"), "", "/loop2"),
        Case("/hop1", hops["/hop1"], "redirect_loop"),
        *(Case(None, answer, "", path) for path, answer in list(hops.items())[1:5]),
        Case(None, hops["/hop6"], "", "/hop6"),
        Case(None, hops["/hop7"], None, "/hop7"),
        Case("/redir-start", moved("/"), "duplicate_url"),
        Case("/old", moved("/new/", "301 Moved"), "ok"),
        Case(None, good("moved"), "", "/new/"),
    ]


def spellings(base: str, other: str) -> list[Case]:
    """Links that lead where they do not seem to."""
    port = base.rpartition(":")[2]
    return [
        Case(f"HTTP://127.0.0.1:{port}/upper", good("upper"), "ok", "/upper"),
        Case(f"http://user:secret@127.0.0.1:{port}/user", good("user"), "ok", "/user"),
        Case("/x/../dots", good("dots"), "ok", "/dots"),
        Case("../../%2e%2e/dots2", good("dots two"), "ok", "/dots2"),
        Case("/./dots", None, "", "/dots"),
        Case(" /spaced ", good("spaced"), "ok", "/spaced"),
        Case("/sp ace", good("space"), "ok", "/sp%20ace"),
        Case("/sp%20ace", None, "", "/sp%20ace"),
        Case("/%7Euser", good("tilde"), "ok", "/~user"),
        Case("/~user", None, "", "/~user"),
        Case("/straße", good("street"), "ok", "/stra%C3%9Fe"),
        Case("/frag#one", good("fragments"), "ok", "/frag"),
        Case("/frag#two", None, "", "/frag"),
        Case("/tracked?utm_source=x&gclid=1", good("tracked"), "ok", "/tracked"),
        Case("/query?b=2&amp;a=1", good("query"), "ok", "/query?a=1&b=2"),
        Case("/query?a=1&amp;b=2", None, "", "/query?a=1&b=2"),
        Case(f"http://127.0.0.1:{port}@{other.removeprefix('http://')}/u", None, None, "/u"),
        Case(f"http://127.0.0.1.{port}.invalid/", None, None, "/lookalike"),
        Case(f"//{other.removeprefix('http://')}/protocol", None, None, "/protocol"),
        Case(f"{other}/plain", None, None, "/plain"),
        Case("http://10.0.0.1/lan", None, None, "/lan"),
        Case("http://169.254.169.254/latest", None, None, "/latest"),
        Case("http://[::1", None, None, "/broken-host"),
        Case("http://127.0.0.1:99999/port", None, None, "/port"),
        Case("http:///nohost", bad("404 Not Found"), "http_404", "/nohost"),
        Case("{{ page.url }}", None, None, "/{{%20page.url%20}}"),
        Case("/t/${slug}", None, None, "/t/$%7Bslug%7D"),
        Case("/t/<%25= path %25>", None, None, "/t/"),
        Case("javascript:alert(1)", None, None, "alert(1)"),
        Case("data:text/html,hello", None, None, "text/html,hello"),
        Case("file:///etc/passwd", None, None, "/etc/passwd"),
        Case("mailto:docs@example.com", None, None, "docs@example.com"),
        Case("/" + "long" * 600, None, None),
        Case("/logo.png", None, None),
        Case("/manual.pdf", None, None),
        Case("/genindex.html", None, None),
        Case("/search/?q=x", None, None),
    ]


def contents(other: str) -> list[Case]:
    declared = b'<?xml version="1.0" encoding="UTF-8"?>\n' + page("declared").body
    umlaut = page("Gr\u00f6\u00dfe").body.decode()
    bomb = gzip.compress(b"<p>" + b"boom " * 4_000_000)
    based = f'<base href="{other}/deep/">'
    latin = umlaut.replace("<head>", "<head><meta charset=latin-1>").replace("Gr", "Meta gr")
    japanese = umlaut.replace("Gr\u00f6\u00dfe", "\u65e5\u672c\u8a9e").encode("shift_jis")
    nested = "<div>" * 3000 + "deep" + "</div>" * 3000
    forward = b'<meta http-equiv=refresh content="0; url=/fresh">'
    packed = gzip.compress(page("cut short").body)
    away = f"<link rel=canonical href='{other}/c'>"
    brotli = reply(page("brotli").body, Content_Encoding="br")
    return [
        Case("/xmldecl", typed(declared, "application/xhtml+xml"), "ok"),
        Case("/429", after(bad("429 Slow", Retry_After="0"), bad("429 Slow"), good("free")), "ok"),
        Case("/flaky", after(bad("503 Down"), good("flaky")), "ok"),
        Case("/huge", typed(b"<p>" + b"word " * 50_000, "text/html"), "too_large"),
        Case("/endless", Endless("text/html"), "too_large"),
        Case("/bomb", reply(bomb, Content_Encoding="gzip"), "too_large"),
        Case("/cut-gzip", reply(packed[:-20], Content_Encoding="gzip"), "decode_error"),
        Case("/brotli", brotli, "decode_error"),
        Case("/tiny", typed(b"<p>Port 80 is for HTTP.", "text/html"), "ok"),
        Case("/dup1", good("twin"), "ok"),
        Case("/dup2", good("twin"), "duplicate_content"),
        Case("/session?sid=1", good("session"), "ok"),
        Case("/session?sid=2", good("session"), "duplicate_content"),
        Case("/session;jsessionid=3", good("session"), "duplicate_content"),
        Case("/metarefresh", typed(forward, "text/html"), "empty_content"),
        Case(None, good("fresh"), "ok", "/fresh"),
        Case("/refresh-away", typed(
            f'<meta http-equiv=refresh content="0; url={other}/away">'.encode(), "text/html"
        ), "empty_content"),
        Case("/based", good("based", "below", head=based), "ok"),
        Case("/canonical-ext", good("canonical", head=away), "ok"),
        Case("/canonical-in", good("alias", head='<link rel=canonical href="/dup1">'),
             "duplicate_url"),
        Case("/noindex", good("hidden", "/from-noindex", head="<meta name=robots content=noindex>"),
             "noindex"),
        Case(None, good("found behind noindex"), "ok", "/from-noindex"),
        Case("/our-noindex", good("ours", head="<meta name=QIndexBot content=none>"), "noindex"),
        Case("/nofollow", good("no follow", "/never1", head="<meta name=robots content=nofollow>"),
             "ok"),
        Case(None, good("never"), None, "/never1"),
        Case("/x-robots", good("tagged", X_Robots_Tag="noindex"), "noindex"),
        Case("/x-robots-other", good("for another", X_Robots_Tag="otherbot: noindex"), "ok"),
        Case("/soft", good("Page not found"), "soft_404"),
        Case("/empty", typed(b"<p>Soon.", "text/html"), "empty_content"),
        Case("/shell", typed(b"<div id=app></div><script src=/a.js></script>", "text/html"),
             "js_required"),
        Case("/deep", typed(nested.encode(), "text/html"), "parse_error"),
        Case("/json", typed(b"{}", "application/json"), "unsupported_content_type"),
        Case("/pdf.html", typed(b"%PDF-1.7 words of a book", "application/pdf"),
             "unsupported_content_type"),
        Case("/pdf-as-html", typed(PDF, "text/html"), "unsupported_content_type"),
        Case("/image.html", typed(b"\x89PNG", "image/png"), "unsupported_content_type"),
        Case("/download", Endless("application/zip"), "unsupported_content_type"),
        Case("/readme.md", typed(b"# Read me now please, all of it", "text/markdown"),
             "unsupported_content_type"),
        Case("/untyped", said(Reply(page("untyped").body, headers={})), "ok"),
        Case("/meta-latin", typed(latin.encode("latin-1"), "text/html"), "ok"),
        Case("/odd-charset", typed(umlaut.encode(), "text/html; charset=banana"), "ok"),
        Case("/utf16", typed(umlaut.replace("Gr", "Wide gr").encode("utf-16"), "text/html"), "ok"),
        Case("/sjis", typed(japanese, "text/html; charset=Shift_JIS"), "ok"),
        Case("/nul", typed(page("n\x00u\u2028l &#xD800; &#0; \ufffe").body, "text/html"), "ok"),
        Case("/odd-headers", good("odd headers", ETag="\u00ff", Last_Modified="never", Date="x",
                                  Content_Language="", Set_Cookie="a=b", Link="<", Age="-1"), "ok"),
        Case("/private/secret", None, "robots_disallowed"),
        Case("/private/open", good("open"), "ok"),
        Case("/index.php", None, "robots_disallowed"),
        Case(None, good("from the sitemap"), "ok", "/from-sitemap"),
        Case(None, None, "robots_disallowed", "/private/map"),
    ]  # fmt: skip


def traps() -> list[Case]:
    """Paths that grow by a segment a page, and a calendar without an end."""
    growing = ["/trap/" + "again/" * n for n in range(5)]
    return [
        Case("/trap/", good("trap 0", growing[1]), "ok"),
        *(Case(None, good(f"trap {n}", growing[n + 1]), "ok", growing[n]) for n in (1, 2, 3)),
        Case(None, good("trap 4"), None, growing[4]),
        *(
            Case(f"/calendar?day={n:02}", good(f"day {n}"), "ok" if n < 50 else None)
            for n in range(53)
        ),
    ]


@contextmanager
def hostile_site() -> Generator[HostileSite]:
    """Serve the site on 127.0.0.1, beside a host on 127.0.0.2 that nobody may call."""
    answers: dict[str, Answer] = {}
    with forbidden_host() as other, talking_beside(answers) as server:
        cases = (
            *failures(), *contents(other.base), *redirects(other.base),
            *spellings(server.base, other.base), *traps(),
        )  # fmt: skip
        answers |= {case.target: case.answer for case in cases if case.answer is not None}
        answers |= sitemaps(server.base, other.base)
        answers["/robots.txt"] = robots(other.base)
        links = "".join(f'<a href="{case.link}">on</a> ' for case in cases if case.link)
        links += f'<a rel=nofollow href="/never2">no</a><a href="/">home</a>{"word " * 9}'
        answers["/never2"] = good("never two")
        answers["/"] = typed(
            f"<title>S</title><main><h1>Start</h1><p>{links}</main>".encode(), "text/html"
        )
        yield HostileSite(server, other, cases)
