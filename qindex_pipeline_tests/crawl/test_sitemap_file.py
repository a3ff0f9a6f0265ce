import gzip
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.discovery import sitemap_file
from qindex_pipeline.crawl.discovery.sitemap_file import (
    Sitemap,
    SitemapEntry,
    parse_lastmod,
    parse_sitemap,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*items: str, attributes: str = NAMESPACE) -> str:
    urls = "".join(f"<url>{item}</url>" for item in items)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {attributes}>{urls}</urlset>'


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.entries]


A = "<loc>https://x.org/a</loc>"
ONE = urlset(A)


@pytest.mark.parametrize(
    "body",
    [
        ONE.encode(),
        urlset(A, attributes="").encode(),
        urlset(A, attributes='xmlns="https://www.google.com/schemas/sitemap/0.84"').encode(),
        ONE.replace("urlset ", "s:urlset xmlns:s='urn:x' ", 1)
        .replace("</urlset>", "</s:urlset>")
        .encode(),
        b"\xef\xbb\xbf" + ONE.encode(),
        b"\n\n  " + ONE.encode(),
        ONE.replace("UTF-8", "UTF-16").encode("utf-16"),
        ONE.replace("UTF-8", "iso-8859-1").encode("latin-1"),
        gzip.compress(ONE.encode(), mtime=0),
        gzip.compress(ONE[:60].encode(), mtime=0) + gzip.compress(ONE[60:].encode(), mtime=0),
        urlset("<loc>\n  https://x.org/a\n</loc>").encode(),
        urlset("<loc><![CDATA[https://x.org/a]]></loc>").encode(),
        urlset("<loc><!-- old: /b -->https://x.org/a</loc>").encode(),
        urlset("<loc>HTTPS://X.org:443/./a?utm_source=s#part</loc>").encode(),
        urlset(A, A.replace("https:", "ftp:"), "<loc></loc>", "<loc>/relative</loc>", "").encode(),
        urlset(f"<image><loc>https://x.org/i.png</loc></image>{A}").encode(),
        ONE.replace("<url>", "<group><url><loc>https://x.org/b</loc></url></group><url>").encode(),
        b"https://x.org/a",
        b"\xef\xbb\xbfhttps://x.org/a\r\n\r\n",
        "https://x.org/a\n".encode("utf-16"),
    ],
)
def test_every_form_of_the_format_gives_its_page(body: bytes) -> None:
    assert parse_sitemap(body, NOW) == Sitemap((SitemapEntry("https://x.org/a"),))


def test_pages_stand_in_the_order_of_the_file_with_their_dates() -> None:
    items = (f"<loc>https://x.org/{i}?a=1&amp;b=2</loc><lastmod>2024</lastmod>" for i in range(999))
    entries = parse_sitemap(urlset(*items).encode(), NOW).entries
    date = datetime(2024, 1, 1, tzinfo=UTC)
    assert entries == tuple(SitemapEntry(f"https://x.org/{i}?a=1&b=2", date) for i in range(999))


def test_an_index_lists_files_and_no_pages() -> None:
    body = f"<sitemapindex {NAMESPACE}><sitemap>{A}</sitemap><url>{A}</url></sitemapindex>"
    assert parse_sitemap(body.encode(), NOW) == Sitemap(files=("https://x.org/a",))


def test_a_large_file_on_a_single_line_is_read_to_its_end() -> None:
    body = urlset(*[f"<x>{'x' * 50_000}</x>"] * 300, A).encode()
    assert urls(parse_sitemap(body, NOW)) == ["https://x.org/a"]


def test_an_empty_sitemap_is_one() -> None:
    assert parse_sitemap(urlset().encode(), NOW) == Sitemap()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"<!doctype html><html><body><div id=app></div></body></html>",
        b"<html><body><p>404</p></body></html>",
        b"<rss><channel><link>https://x.org/a</link></channel></rss>",
        b"Not found",
        b"https://x.org/a\nhttps://x.org/b and more\n",
        b"https://x.org/a\n/relative",
        b"{}",
        b"\x00\x01\x02",
        ONE.encode()[:-5],
        ONE.replace("</url>", "").encode(),
        f"{ONE} and more".encode(),
        gzip.compress(ONE.encode(), mtime=0)[:-20],
        gzip.compress(b"<html></html>", mtime=0),
        b"\x1f\x8b broken",
    ],
)
def test_anything_else_is_no_sitemap_and_says_why(body: bytes) -> None:
    sitemap = parse_sitemap(body, NOW)
    assert not sitemap.entries
    assert sitemap.problem
    assert "\n" not in sitemap.problem


def test_a_gzip_bomb_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_file, "MAX_BYTES", 100_000)
    line = b"https://x.org/a\n"
    fits, bomb = (gzip.compress(line * n) for n in (100_000 // 16, 100_000 // 16 + 1))
    assert urls(parse_sitemap(fits, NOW))
    assert parse_sitemap(bomb, NOW).problem


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY e "https://x.org/">',
        '<!ENTITY e SYSTEM "file:///etc/passwd">',
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY e "&b;&b;&b;&b;&b;">',
    ],
)
def test_entities_are_not_expanded_and_nothing_is_loaded(declaration: str) -> None:
    body = ONE.replace("<urlset", f"<!DOCTYPE urlset [{declaration}]><urlset").replace(
        "/a<", "&e;<"
    )
    sitemap = parse_sitemap(body.encode(), NOW)
    assert sitemap == Sitemap(problem="is no sitemap: it declares the document type urlset")


def test_only_the_items_below_the_root_count() -> None:
    body = f"<urlset><x><url>{A}</url></x><url><x>{A}</x></url><loc>https://x.org/b</loc></urlset>"
    assert parse_sitemap(body.encode(), NOW) == Sitemap()


@pytest.mark.parametrize("body", [urlset(*[A] * 12).encode(), b"https://x.org/a\n" * 12])
def test_reading_stops_at_the_limit_of_urls(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_file, "MAX_URLS", 10)
    assert len(parse_sitemap(body, NOW).entries) == 10


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x1f\x8b", b"<urlset>", b"https://x.org/"]))
def test_any_bytes_are_a_sitemap_or_not_but_never_an_error(body: bytes, start: bytes) -> None:
    parse_sitemap(start + body, NOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024-01-01T00:00:00"),
        ("2024-05", "2024-05-01T00:00:00"),
        ("2024-05-06", "2024-05-06T00:00:00"),
        ("2024-05-06T07:08Z", "2024-05-06T07:08:00"),
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09"),
        ("2024-05-06T07:08:09.5+02:00", "2024-05-06T05:08:09.500000"),
        ("2024-05-06T07:08:09.123456789Z", "2024-05-06T07:08:09.123456"),
        ("2024-05-06T07:08:09-0530", "2024-05-06T12:38:09"),
        ("2024-05-06 07:08:09", "2024-05-06T07:08:09"),
        (" 2024-05-06\n", "2024-05-06T00:00:00"),
        ("2026-06-01T12:00:00Z", "2026-06-01T12:00:00"),
        ("2026-06-01T12:00:01Z", None),
        ("2099", None),
        ("2024-02-30", None),
        ("2024-13", None),
        ("0000-01-01", None),
        ("0001-01-01T00:00+23:59", None),
        ("2024-05-06T25:00Z", None),
        ("2024-05-06T07", None),
        ("20240506", None),
        ("2024-W01-1", None),
        ("06.05.2024", None),
        ("yesterday", None),
        ("٢٠٢٤", None),
        ("", None),
    ],
)
def test_a_lastmod_is_a_moment_in_utc_or_nothing(text: str, expected: str | None) -> None:
    lastmod = parse_lastmod(text, NOW)
    assert (lastmod and lastmod.isoformat()) == (expected and f"{expected}+00:00")


@given(
    st.datetimes(),
    st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_what_a_generator_writes_comes_back(moment: datetime, zone: timezone) -> None:
    moment = moment.replace(tzinfo=zone)
    lastmod = parse_lastmod(moment.isoformat(), NOW)
    assert lastmod == (moment if moment <= NOW else None) or moment.year == 1
    assert lastmod is None or lastmod.tzinfo is UTC


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{4}(-[0-9]{2}){0,2}(T[0-9:.]+Z)?"))
def test_any_text_is_a_moment_or_nothing(text: str) -> None:
    lastmod = parse_lastmod(text, NOW)
    assert lastmod is None or lastmod <= NOW
