import asyncio
import gzip
import zlib
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.fetch import exchange
from qindex_pipeline.crawl.fetch.answers import error_text, robots_directives
from qindex_pipeline.crawl.fetch.http import Document, HttpFetcher, Response
from qindex_pipeline.crawl.fetch.pace import Pace
from qindex_pipeline.crawl.folder import served
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.result import Validators
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.sockets import (
    Answer,
    Asked,
    Server,
    WoundClock,
    forget_proxies,
    moved,
    reply,
    talking,
)
from qindex_pipeline_tests.crawl.test_private import Names

PAGE = b"<p>hello</p>"
Use = Callable[[HttpFetcher, Server], Coroutine[Any, Any, Any]]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


def anywhere(url: str) -> Outcome | None:
    return None


def conversation(answers: Mapping[str, Answer], use: Use, **options: Any) -> tuple[Any, Server]:
    """What `use` makes of a server that answers so, and what the server was asked."""

    async def main() -> tuple[Any, Server]:
        async with talking(answers) as server:
            site = Site(key="s", start_url=server.base, **({"retries": 0} | options))
            async with HttpFetcher(site, Addresses()) as fetcher:
                return await use(fetcher, server), server

    return asyncio.run(main())


def page(answer: Answer, **options: Any) -> Response:
    """One page that answers so, which is asked once."""

    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", anywhere)

    response, server = conversation({"/": answer}, use, **options)
    assert len(server.asked) == response.fetch.requests == 1
    return response


async def drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(b"", Content_Length="1000"))
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def hush(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def hang_up(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def hang_up_in_the_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(b"", Content_Length="1000") + b"abc")
    await writer.drain()
    writer.transport.abort()


PACKED = gzip.compress(PAGE * 50)
ODD_TYPE = reply(PAGE, Content_Type="text/\xff").decode().encode("latin-1")
CUT = zlib.compress(PAGE)[:-9]
BOMB = gzip.compress(b"a" * 20_000_000)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

FAILURES: list[tuple[str, Answer, Outcome]] = [
    ("drips", drip, Outcome.TOTAL_TIMEOUT),
    ("says nothing", hush, Outcome.TOTAL_TIMEOUT),
    ("resets", hang_up, Outcome.RESET),
    ("resets in the body", hang_up_in_the_body, Outcome.TRUNCATED),
    ("closes", b"", Outcome.RESET),
    ("other protocol", b"SSH-2.0-x\r\n", Outcome.RESET),
    ("bad status line", b"HTTP/1.1 banana\r\n\r\n", Outcome.RESET),
    ("old protocol", b"<html>hi</html>", Outcome.RESET),
    ("header bomb", reply(PAGE, X="a" * 200_000), Outcome.RESET),
    ("many headers", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n", Outcome.RESET),
    ("bad length", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Outcome.RESET),
    ("negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Outcome.RESET),
    ("bad chunk", CHUNKED + b"zz\r\nabc\r\n", Outcome.RESET),
    ("cut chunk", CHUNKED + b"9\r\nabc", Outcome.TRUNCATED),
    ("short body", reply(PAGE, Content_Length="99"), Outcome.TRUNCATED),
    ("no gzip", reply(PAGE, Content_Encoding="gzip"), Outcome.DECODE_ERROR),
    ("cut gzip", reply(PACKED[:-20], Content_Encoding="gzip"), Outcome.DECODE_ERROR),
    ("bad checksum", reply(PACKED[:-8] + b"x" * 8, Content_Encoding="gzip"), Outcome.DECODE_ERROR),
    ("no deflate", reply(b"\xff" * 9, Content_Encoding="deflate"), Outcome.DECODE_ERROR),
    ("cut deflate", reply(CUT, Content_Encoding="deflate"), Outcome.DECODE_ERROR),
    ("other encoding", reply(PAGE, Content_Encoding="br"), Outcome.DECODE_ERROR),
    ("too long", reply(b"x" * 2000), Outcome.TOO_LARGE),
    ("bomb", reply(BOMB, Content_Encoding="gzip"), Outcome.TOO_LARGE),
    ("no page", reply(b"%PDF", Content_Type="application/pdf"), Outcome.UNSUPPORTED_CONTENT_TYPE),
    ("odd type", ODD_TYPE, Outcome.UNSUPPORTED_CONTENT_TYPE),
    ("text", reply(b"# x", Content_Type="text/markdown"), Outcome.UNSUPPORTED_CONTENT_TYPE),
    ("no target", reply(b"", "302 Found"), Outcome.HTTP_4XX),
    ("no web target", moved("mailto:x@y.z"), Outcome.OUT_OF_SCOPE_REDIRECT),
    ("unasked 304", reply(b"", "304 Not Modified"), Outcome.HTTP_4XX),
    ("choices", reply(b"", "300 Multiple Choices"), Outcome.HTTP_4XX),
    ("401", reply(b"", "401 Unauthorized"), Outcome.HTTP_401),
    ("410", reply(b"", "410 Gone"), Outcome.HTTP_410),
    ("418", reply(b"", "418 Teapot"), Outcome.HTTP_4XX),
    ("429", reply(b"", "429 Slow"), Outcome.HTTP_429),
    ("507", reply(b"", "507 Full"), Outcome.HTTP_5XX),
    ("latin reason", reply(b"", "500 Gr\xf6\xdfe").decode().encode("latin-1"), Outcome.HTTP_5XX),
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(answer, outcome) for _, answer, outcome in FAILURES],
    ids=[name for name, _, _ in FAILURES],
)
def test_a_server_that_fails_gives_an_outcome_and_one_line(
    answer: Answer, outcome: Outcome
) -> None:
    response = page(answer, timeout=0.2, max_html_bytes=1024)
    fetch = response.fetch
    assert fetch.outcome is outcome
    assert (response.text, fetch.response_bytes) == ("", None)
    text = fetch.error or ""
    assert 0 < len(text) <= 300
    assert "\n" not in text
    f"{text} {fetch.content_type}".encode()


def test_a_port_where_nobody_listens_and_a_name_that_is_none_are_outcomes() -> None:
    async def main(url: str) -> Response:
        site = Site(key="s", start_url=url, retries=0, min_interval=0)
        async with HttpFetcher(site, Addresses(), resolver=Names({})) as fetcher:
            return await fetcher.page(url, anywhere)

    assert asyncio.run(main("http://127.0.0.1:9/")).fetch.outcome is Outcome.CONNECT_ERROR
    assert asyncio.run(main("http://no.such.test/")).fetch.outcome is Outcome.DNS_ERROR
    assert asyncio.run(main(f"http://{'x' * 64}.test/")).fetch.outcome is Outcome.DNS_ERROR


@pytest.mark.parametrize(
    ("scheme", "limit", "outcome"),
    [
        ("http", "_READ_SECONDS", Outcome.READ_TIMEOUT),
        ("https", "_CONNECT_SECONDS", Outcome.CONNECT_TIMEOUT),
    ],
)
def test_a_silent_server_is_told_from_one_that_lets_nobody_in(
    monkeypatch: pytest.MonkeyPatch, scheme: str, limit: str, outcome: Outcome
) -> None:
    monkeypatch.setattr(exchange, limit, 0.1)

    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(server.base.replace("http", scheme) + "/", anywhere)

    response, _ = conversation({"/": hush}, use)
    assert response.fetch.outcome is outcome


def test_a_server_that_speaks_no_tls_is_a_tls_error() -> None:
    async def answer_in_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(reply(b"", "400 Bad Request"))
        writer.close()

    async def main() -> Response:
        async with await asyncio.start_server(answer_in_clear, "127.0.0.1", 0) as server:
            url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            async with HttpFetcher(Site(key="s", start_url=url), Addresses()) as fetcher:
                return await fetcher.page(url, anywhere)

    assert asyncio.run(main()).fetch.outcome is Outcome.TLS_ERROR


@pytest.mark.parametrize(
    "answer",
    [
        reply(PAGE),
        reply(PAGE, Content_Type=""),
        reply(PAGE, Content_Type="TEXT/HTML; charset=UTF-8"),
        reply(PAGE, Content_Type="application/xhtml+xml"),
        reply(PAGE, Content_Length=""),
        reply(gzip.compress(PAGE), Content_Encoding="gzip"),
        reply(gzip.compress(PAGE[:5]) + gzip.compress(PAGE[5:]), Content_Encoding="x-gzip"),
        reply(gzip.compress(PAGE) + b"\0\0", Content_Encoding="GZIP"),
        reply(zlib.compress(PAGE), Content_Encoding="deflate"),
        reply(zlib.compress(PAGE, wbits=-15), Content_Encoding="deflate"),
        reply(PAGE, Content_Encoding="utf-8"),
        reply(PAGE, X="a" * 20_000),
        CHUNKED + b"5\r\n" + PAGE[:5] + b"\r\n7\r\n" + PAGE[5:] + b"\r\n0\r\n\r\n",
    ],
)
def test_a_page_arrives_however_it_is_wrapped(answer: bytes) -> None:
    response = page(answer)
    assert (response.fetch.outcome, response.text) == (Outcome.OK, PAGE.decode())
    assert response.fetch.response_bytes == len(PAGE)


def test_the_facts_of_an_answer_are_kept() -> None:
    answer = reply(
        "größe".encode("latin-1"),
        "203 Fine",
        Content_Type="text/html; charset=latin-1",
        ETag='W/"1"',
        Last_Modified="Mon, 01 Jan 2024 00:00:00 GMT",
        X_Robots_Tag="otherbot: noindex, QIndexBot: NoFollow",
    )
    response = page(answer)
    fetch = response.fetch
    assert response.text == "größe"
    assert (fetch.status, fetch.content_type) == (203, "text/html")
    assert (fetch.charset, fetch.charset_source) == ("cp1252", "header")
    assert (fetch.etag, fetch.last_modified) == ('W/"1"', "Mon, 01 Jan 2024 00:00:00 GMT")
    assert fetch.robots == "nofollow"
    assert (fetch.requests, fetch.retries, fetch.redirects, fetch.error) == (1, 0, (), None)
    assert fetch.fetched_at.tzinfo is not None


def test_a_validator_that_no_table_can_hold_is_dropped() -> None:
    fetch = page(reply(PAGE, ETag="?").replace(b"ETag: ?", b"ETag: \xff")).fetch
    assert (fetch.outcome, fetch.etag) == (Outcome.OK, None)


def test_text_is_a_page_where_the_site_says_so() -> None:
    text = '# Größe\n\n<meta charset="latin-1">'
    answer = reply(text.encode(), Content_Type="text/markdown")
    response = page(answer, accept_text=True)
    assert (response.text, response.fetch.content_type) == (text, "text/markdown")


def test_every_request_carries_our_name_and_no_cookie_that_was_set() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> None:
        await fetcher.page(f"{server.base}/", anywhere)
        await fetcher.robots(f"{server.base}/robots.txt")
        await fetcher.document(f"{server.base}/sitemap.xml", anywhere, 1000)

    _, server = conversation({"/": reply(PAGE, Set_Cookie="id=7; Path=/")}, use)
    assert server.targets == ["/", "/robots.txt", "/sitemap.xml"]
    assert {asked.headers["user-agent"] for asked in server.asked} == {USER_AGENT}
    assert not any("cookie" in asked.headers for asked in server.asked)


def test_redirects_are_followed_hop_by_hop() -> None:
    answers = {
        "/": moved("/b/../c", "301 Moved"),
        "/c": moved("d?x=1#part", "307 Moved"),
        "/d?x=1": reply(PAGE),
    }
    asked_for: list[str] = []

    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", asked_for.append)

    response, server = conversation(answers, use)
    fetch = response.fetch
    assert (fetch.outcome, response.text) == (Outcome.OK, PAGE.decode())
    assert asked_for == [f"{server.base}/c", f"{server.base}/d?x=1"]
    assert fetch.final_url == f"{server.base}/d?x=1"
    assert fetch.redirects == (
        {"url": f"{server.base}/", "status": 301},
        {"url": f"{server.base}/c", "status": 307},
    )
    assert (fetch.requests, fetch.status) == (3, 200)


def test_a_redirect_that_the_gate_refuses_is_not_asked() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", lambda _: Outcome.ROBOTS_DISALLOWED)

    response, server = conversation({"/": moved("/x"), "/x": reply(PAGE)}, use)
    assert response.fetch.outcome is Outcome.ROBOTS_DISALLOWED
    assert response.fetch.final_url == f"{server.base}/x"
    assert [hop["url"] for hop in response.fetch.redirects] == [f"{server.base}/"]
    assert server.targets == ["/"]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({"/": moved("/")}, 1),
        ({"/": moved("/a"), "/a": moved("/")}, 2),
        ({"/": moved("/1")} | {f"/{n}": moved(f"/{n + 1}") for n in range(1, 20)}, 6),
    ],
)
def test_redirects_end(answers: Mapping[str, Answer], asked: int) -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", anywhere)

    response, server = conversation(answers, use)
    assert response.fetch.outcome is Outcome.REDIRECT_LOOP
    assert len(server.asked) == response.fetch.requests == asked


def test_credentials_in_a_location_are_neither_used_nor_kept() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", anywhere)

    for location in ("//joe:hush@127.0.0.1:9/x", "ftp://joe:hush@files.test/x"):
        response, _ = conversation({"/": moved(location)}, use)
        assert response.fetch.outcome in {Outcome.CONNECT_ERROR, Outcome.OUT_OF_SCOPE_REDIRECT}
        assert "hush" not in repr(response)


def test_an_error_text_is_one_short_line_without_credentials() -> None:
    text = error_text("at https://joe:hush@x.test/a\n  line 2 \udcff" + "x" * 400)
    assert text.startswith("at https://x.test/a line 2 ?x")
    assert len(text) == 300


@pytest.mark.parametrize(
    ("validators", "sent"),
    [
        (Validators('"1"', "date"), {"if-none-match": '"1"', "if-modified-since": "date"}),
        (Validators('"1"'), {"if-none-match": '"1"'}),
        (Validators(None, "date"), {"if-modified-since": "date"}),
    ],
)
def test_a_page_that_did_not_change_keeps_its_validators(
    validators: Validators, sent: dict[str, str]
) -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", anywhere, validators)

    answers = {"/": moved("/new"), "/new": reply(b"", "304 Not Modified", Content_Length="")}
    response, server = conversation(answers, use)
    assert response.fetch.outcome is Outcome.NOT_MODIFIED
    assert Validators(response.fetch.etag, response.fetch.last_modified) == validators
    assert response.fetch.final_url == f"{server.base}/new"
    for asked in server.asked:
        conditions = {name: value for name, value in asked.headers.items() if name[:3] == "if-"}
        assert conditions == sent


def test_a_server_may_renew_a_validator_with_a_304_or_ignore_all_of_them() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> tuple[Response, Response]:
        old = Validators('"1"', "then")
        return (
            await fetcher.page(f"{server.base}/renews", anywhere, old),
            await fetcher.page(f"{server.base}/ignores", anywhere, old),
        )

    answers = {"/renews": reply(b"", "304 X", ETag='"2"'), "/ignores": reply(PAGE, ETag='"3"')}
    (renewed, ignored), _ = conversation(answers, use)
    assert (renewed.fetch.etag, renewed.fetch.last_modified) == ('"2"', "then")
    assert ignored.fetch.outcome is Outcome.OK
    assert (ignored.fetch.etag, ignored.fetch.last_modified) == ('"3"', None)


def one_after_another(*answers: bytes) -> Answer:
    left = list(answers)

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        await writer.drain()

    return answer


DOWN = reply(b"", "503 Down")


def paced_conversation(
    answers: Mapping[str, Answer], use: Use, **options: Any
) -> tuple[Any, Server, WoundClock]:
    """A conversation in time that the test winds; intervals are those of a public host."""

    async def main() -> tuple[Any, Server, WoundClock]:
        clock = WoundClock()
        async with talking(answers) as server:
            site = Site(key="s", start_url=server.base, **({"min_interval": 0.5} | options))
            pace = Pace(site, clock=clock, sleep=clock.sleep, chance=lambda: 0)
            async with HttpFetcher(site, Addresses(), pace=pace) as fetcher:
                return await use(fetcher, server), server, clock

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("answers", "options", "outcome", "requests", "slept"),
    [
        ((DOWN, b"", reply(PAGE)), {}, "ok", 3, [1, 2]),
        ((DOWN,), {}, "http_5xx", 4, [1, 2, 4]),
        ((DOWN,), {"retries": 1}, "http_5xx", 2, [1]),
        ((DOWN,), {"retries": 0}, "http_5xx", 1, []),
        ((DOWN, reply(b"", "404 No")), {}, "http_404", 2, [1]),
        ((reply(b"", "404 No"),), {}, "http_404", 1, []),
        ((reply(PAGE, Content_Encoding="gzip"),), {}, "decode_error", 1, []),
        ((reply(b"", "429 Slow", Retry_After="30"), reply(PAGE)), {}, "ok", 2, [1, 29]),
        ((reply(b"", "503 Down", Retry_After="999"), reply(PAGE)), {}, "ok", 2, [1, 119]),
        ((reply(b"", "404 No", Retry_After="30"),), {}, "http_404", 1, []),
    ],
)
def test_what_may_pass_is_asked_again_in_time(
    answers: tuple[bytes, ...],
    options: dict[str, Any],
    outcome: str,
    requests: int,
    slept: list[float],
) -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", anywhere)

    response, server, clock = paced_conversation({"/": one_after_another(*answers)}, use, **options)
    assert response.fetch.outcome == outcome
    assert response.fetch.requests == len(server.asked) == requests
    assert response.fetch.retries == requests - 1
    assert clock.slept == slept


def test_only_the_hop_that_failed_is_asked_again_and_retries_are_for_the_whole_chain() -> None:
    answers = {
        "/": one_after_another(DOWN, moved("/x")),
        "/x": one_after_another(DOWN, DOWN, DOWN, reply(PAGE)),
    }
    asked_for: list[str] = []

    async def use(fetcher: HttpFetcher, server: Server) -> Response:
        return await fetcher.page(f"{server.base}/", asked_for.append)

    response, server, _ = paced_conversation(answers, use)
    assert server.targets == ["/", "/", "/x", "/x", "/x"]
    assert (response.fetch.requests, response.fetch.retries) == (5, 3)
    assert response.fetch.outcome is Outcome.HTTP_5XX
    assert len(asked_for) == 1


def test_a_host_that_keeps_failing_is_asked_no_more() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> list[Response]:
        urls = [f"{server.base}/{n}" for n in range(8)]
        return [await fetcher.page(url, anywhere) for url in urls]

    answers = {f"/{n}": DOWN for n in range(8)}
    responses, server, _ = paced_conversation(answers, use, retries=1)
    outcomes = [response.fetch.outcome for response in responses]
    assert outcomes == [Outcome.HTTP_5XX] * 5 + [Outcome.SITE_UNAVAILABLE] * 3
    assert len(server.asked) == 10
    assert [response.fetch.requests for response in responses] == [2] * 5 + [0] * 3
    assert responses[-1].fetch.error == "not asked: the host was given up after HTTP 503 Down"


def test_pages_that_are_retried_when_the_host_is_given_up_keep_their_own_failure() -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> list[Response]:
        pages = (fetcher.page(f"{server.base}/{n}", anywhere) for n in range(8))
        return await asyncio.gather(*pages)

    answers = {f"/{n}": DOWN for n in range(8)}
    responses, server, _ = paced_conversation(answers, use, concurrency=8)
    assert {response.fetch.outcome for response in responses} == {Outcome.HTTP_5XX}
    assert sum(response.fetch.requests for response in responses) == len(server.asked)


def test_robots_may_have_any_type_and_length_and_live_anywhere() -> None:
    long = b"User-agent: *\n" + b"# \n" * 300_000

    async def main() -> Response:
        async with talking({"/r": reply(long, Content_Type="image/png")}, "127.0.0.2") as other:
            answers = {"/robots.txt": moved(f"{other.base}/r")}
            async with talking(answers) as server:
                site = Site(key="s", start_url=server.base)
                async with HttpFetcher(site, Addresses()) as fetcher:
                    return await fetcher.robots(f"{server.base}/robots.txt")

    response = asyncio.run(main())
    assert response.fetch.outcome is Outcome.OK
    assert response.text.startswith("User-agent: *")
    assert response.fetch.response_bytes == len(response.text) == 500 * 1024


@pytest.mark.parametrize(("limit", "outcome"), [(4, Outcome.OK), (3, Outcome.TOO_LARGE)])
def test_a_document_comes_as_bytes_of_any_type_within_its_limit(
    limit: int, outcome: Outcome
) -> None:
    async def use(fetcher: HttpFetcher, server: Server) -> Document:
        return await fetcher.document(f"{server.base}/sitemap.xml.gz", anywhere, limit)

    answers = {"/sitemap.xml.gz": reply(b"\x1f\x8b\xff\0", Content_Type="application/x-gzip")}
    document, _ = conversation(answers, use)
    assert document.fetch.outcome is outcome
    assert document.body == (b"\x1f\x8b\xff\0" if outcome is Outcome.OK else b"")


@pytest.mark.parametrize(
    ("headers", "directives"),
    [
        ([], None),
        ([""], None),
        (["NoIndex"], "noindex"),
        (["noindex, nofollow", "noarchive"], "noindex, nofollow, noarchive"),
        (["otherbot: noindex, nofollow"], None),
        (["otherbot: noindex", "nofollow"], "nofollow"),
        (["qindexbot: noindex"], "noindex"),
        (["otherbot: noindex, QIndexBot: nofollow, noarchive"], "nofollow, noarchive"),
        (["max-snippet: -1, none"], "max-snippet: -1, none"),
        (["unavailable_after: Fri, 25 Jun 2100 15:00:00 PST, noindex"],
         "unavailable_after: fri, 25 jun 2100 15:00:00 pst, noindex"),
    ],
)  # fmt: skip
def test_directives_for_other_bots_are_left_out(headers: list[str], directives: str | None) -> None:
    assert robots_directives(headers) == directives


def through_names(
    names: Mapping[str, tuple[str, ...]], start: str, url: str, answers: Mapping[str, Answer]
) -> tuple[Response, list[str]]:
    """Fetch a page and robots.txt of a server on loopback that has these names.

    `{port}` in `start` and `url` is the server's.
    """

    async def main() -> tuple[Response, list[str]]:
        async with talking(answers) as server:
            port = server.base.rpartition(":")[2]
            site = Site(key="s", start_url=start.format(port=port), min_interval=0, retries=0)
            resolver = Names(names)
            async with HttpFetcher(site, Addresses(), resolver=resolver) as fetcher:
                response = await fetcher.page(url.format(port=port), anywhere)
            assert resolver.is_closed
            return response, server.targets

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("start", "url", "outcome"),
    [
        ("http://docs.example.test:{port}/", "http://docs.example.test:{port}/", "ok"),
        ("http://docs.example.test:{port}/", "http://127.0.0.1:{port}/", "ok"),
        ("http://public.example.test/", "http://docs.example.test:{port}/", "private_address"),
        ("http://public.example.test/", "http://127.0.0.1:{port}/", "private_address"),
        ("http://public.example.test/", "http://[::ffff:7f00:1]:{port}/", "private_address"),
        ("http://127.0.0.1/", "http://docs.example.test:{port}/", "ok"),
    ],
)
def test_private_addresses_are_asked_only_for_sites_that_have_one(
    start: str, url: str, outcome: str
) -> None:
    names = {"docs.example.test": ("127.0.0.1",), "public.example.test": ("1.1.1.1",)}
    response, asked = through_names(names, start, url, {"/": reply(PAGE)})
    assert response.fetch.outcome == outcome
    assert asked == (["/"] if outcome == "ok" else [])


class Rebinding(Names):
    """Answers the first look-up with a public address, later ones with loopback."""

    async def resolve(self, host: str, *rest: Any) -> Any:
        self.names[host] = ("127.0.0.1",) if self.lookups else ("1.1.1.1",)
        return await super().resolve(host, *rest)


def test_a_name_that_turns_to_loopback_is_not_asked() -> None:
    async def main() -> tuple[Response, Response, Server]:
        async with talking({"/": reply(PAGE)}) as server:
            url = server.base.replace("127.0.0.1", "docs.example.test") + "/"
            site = Site(key="s", start_url=url, min_interval=0)
            async with HttpFetcher(site, Addresses(), resolver=Rebinding({})) as fetcher:
                return await fetcher.page(url, anywhere), await fetcher.robots(url), server

    response, robots, server = asyncio.run(main())
    assert response.fetch.outcome is robots.fetch.outcome is Outcome.PRIVATE_ADDRESS
    assert "docs.example.test" in (response.fetch.error or "")
    assert server.asked == []


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest", "http://inside.test/x"])
def test_a_public_site_cannot_redirect_to_a_private_address(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    names = {"docs.example.test": ("1.1.1.1",), "inside.test": ("10.0.0.1",)}
    url = "http://docs.example.test/robots.txt"

    async def main() -> tuple[Response, Response]:
        # The proxy stands for the public server: it may itself have a private address.
        async with talking({url: moved(target)}) as server:
            monkeypatch.setenv("HTTP_PROXY", server.base)
            monkeypatch.setenv("NO_PROXY", "inside.test")
            site = Site(key="s", start_url=url, min_interval=0)
            async with HttpFetcher(site, Addresses(), resolver=Names(names)) as fetcher:
                return await fetcher.robots(url), await fetcher.page(url, anywhere)

    for response in asyncio.run(main()):
        assert response.fetch.outcome is Outcome.PRIVATE_ADDRESS
        assert response.fetch.final_url == target


def test_a_folder_is_asked_on_loopback_and_carries_its_public_addresses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "index.html").write_bytes(PAGE)
    base = "http://docs.example.test/en/"

    async def main(local: str) -> Response:
        site = Site(key="s", folder=tmp_path, base_url=base)
        async with HttpFetcher(site, Addresses(base, local), resolver=Names({})) as fetcher:
            return await fetcher.page(f"{base}sub", anywhere)

    with served(tmp_path) as local:
        response = asyncio.run(main(local))
    assert (response.fetch.outcome, response.text) == (Outcome.OK, PAGE.decode())
    assert response.fetch.final_url == f"{base}sub/"
    assert response.fetch.redirects[0]["url"] == f"{base}sub"
