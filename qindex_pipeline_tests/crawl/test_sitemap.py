import asyncio
import gzip
from urllib.parse import urlsplit

import pytest

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.discovery import sitemap
from qindex_pipeline.crawl.discovery.sitemap import SitemapReport, read_sitemaps, sitemap_addresses
from qindex_pipeline.crawl.fetch.http import HttpFetcher
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Reply, Server, redirect, serving

XML = {"Content-Type": "application/xml"}
SPA = Reply(b"<!doctype html><html><body><div id=app></div></body></html>")


def pages(*urls: str) -> Reply:
    items = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(f"<urlset>{items}</urlset>".encode(), headers=XML)


def index(*urls: str) -> Reply:
    items = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Reply(f"<sitemapindex>{items}</sitemapindex>".encode(), headers=XML)


def read(server: Server, *from_robots: str, start: str = "/") -> SitemapReport:
    """Read the server's sitemaps; its host is the scope and all that may be asked."""
    host = urlsplit(server.base).netloc

    def gate(url: str) -> Outcome | None:
        return None if urlsplit(url).netloc == host else Outcome.OUT_OF_SCOPE_REDIRECT

    async def run() -> SitemapReport:
        site = Site(key="hostile", start_url=server.base, retries=0)
        async with HttpFetcher(site, Addresses()) as fetcher:
            addresses = sitemap_addresses(server.base + start, from_robots)
            return await read_sitemaps(fetcher, addresses, gate, lambda url: gate(url) is None)

    return asyncio.run(run())


def found(server: Server, report: SitemapReport) -> list[str]:
    return [entry.url.removeprefix(server.base) for entry in report.entries]


def test_addresses_are_those_of_robots_then_the_well_known_ones_of_host_and_folder() -> None:
    addresses = sitemap_addresses(
        "https://x.org/project/index.html", ["/s.xml", "https://X.org/s.xml", "{{ url }}"]
    )
    assert addresses.named == ("https://x.org/s.xml",)
    assert addresses.well_known == (
        "https://x.org/sitemap.xml",
        "https://x.org/sitemap_index.xml",
        "https://x.org/project/sitemap.xml",
    )


def test_pages_come_out_in_the_order_of_the_files_each_once_and_only_in_scope() -> None:
    with serving({}) as server:
        base = server.base
        server.routes |= {
            "/sitemap.xml": index(f"{base}/2.xml.gz", f"{base}/1.txt"),
            "/2.xml.gz": Reply(
                gzip.compress(pages(f"{base}/b", "https://example.com/", f"{base}/a").body),
                headers={"Content-Type": "application/octet-stream"},
            ),
            "/1.txt": Reply(f"{base}/a#x\n{base}/c\n".encode(), headers={}),
        }
        report = read(server)
        assert found(server, report) == ["/b", "/a", "/c"]
        assert report.files == tuple(f"{base}{p}" for p in ("/sitemap.xml", "/2.xml.gz", "/1.txt"))
        assert report.notes == ()


def test_the_sitemap_of_a_site_below_a_path_stands_beside_its_start_page() -> None:
    with serving({}) as server:
        server.routes["/project/sitemap.xml"] = pages(f"{server.base}/project/a")
        assert found(server, read(server, start="/project/")) == ["/project/a"]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (pages("{base}/named"), ["/named"]),
        (SPA, ["/known"]),
        (Reply(status=404), ["/known"]),
    ],
)
def test_well_known_paths_are_asked_only_when_no_named_file_can_be_read(
    named: Reply, expected: list[str]
) -> None:
    with serving({}) as server:
        named_body = named.body.replace(b"{base}", server.base.encode())
        server.routes |= {
            "/named.xml": Reply(named_body, named.status, named.headers),
            "/sitemap.xml": pages(f"{server.base}/known"),
        }
        report = read(server, "/named.xml")
        assert found(server, report) == expected
        assert ("/sitemap.xml" in server.asked) is (expected == ["/known"])
        assert len(report.notes) == (expected == ["/known"])


def test_a_site_that_answers_every_path_with_its_application_has_no_sitemap() -> None:
    with serving({"/sitemap.xml": SPA, "/sitemap_index.xml": SPA}) as server:
        report = read(server)
        assert (report.entries, report.files) == ((), ())
        assert len(report.notes) == 2
        assert f"{server.base}/sitemap.xml is no sitemap" in report.notes[0]


def test_a_site_without_sitemaps_gives_no_note() -> None:
    with serving({}) as server:
        assert read(server) == SitemapReport()
        assert server.asked == {"/sitemap.xml": 1, "/sitemap_index.xml": 1}


def test_a_server_error_is_a_note_and_the_other_files_are_read() -> None:
    with serving({"/bad.xml": Reply(status=500)}) as server:
        base = server.base
        server.routes |= {
            "/sitemap.xml": index(f"{base}/bad.xml", f"{base}/gone.xml", f"{base}/good.xml"),
            "/good.xml": pages(f"{base}/a"),
        }
        report = read(server)
        assert found(server, report) == ["/a"]
        assert [note.split()[1] for note in report.notes] == [f"{base}/bad.xml", f"{base}/gone.xml"]


def test_a_redirected_file_is_read_once_under_all_its_addresses() -> None:
    with serving({"/sitemap.xml": redirect("/sitemap_index.xml")}) as server:
        base = server.base
        server.routes |= {
            "/sitemap_index.xml": index(f"{base}/moved.xml", f"{base}/pages.xml", f"{base}/2.xml"),
            "/moved.xml": redirect("/pages.xml", 301),
            "/2.xml": redirect("/pages.xml", 301),
            "/pages.xml": pages(f"{base}/a"),
        }
        report = read(server)
        assert found(server, report) == ["/a"]
        assert report.files == (f"{base}/sitemap_index.xml", f"{base}/pages.xml")
        assert server.asked["/sitemap_index.xml"] == 1


def test_files_of_another_host_are_not_requested_nor_reached_through_a_redirect() -> None:
    with serving({}, "127.0.0.2") as other, serving({}) as server:
        other.routes |= {"/s.xml": pages(f"{server.base}/a")}
        server.routes |= {
            "/sitemap.xml": index(f"{other.base}/s.xml", f"{server.base}/away.xml"),
            "/away.xml": redirect(f"{other.base}/s.xml"),
        }
        report = read(server)
        assert report.entries == ()
        assert not other.asked
        assert len(report.notes) == 2
        assert all(Outcome.OUT_OF_SCOPE_REDIRECT in note for note in report.notes)


def test_indexes_that_list_each_other_end() -> None:
    with serving({}) as server:
        files = [f"{server.base}/sitemap.xml", f"{server.base}/b.xml"]
        server.routes |= {"/sitemap.xml": index(*files), "/b.xml": index(*files)}
        read(server)
        assert server.asked["/sitemap.xml"] == server.asked["/b.xml"] == 1


def test_an_index_is_followed_two_steps_down() -> None:
    with serving({}) as server:
        server.routes |= {
            f"/{i}.xml": index(f"{server.base}/{i + 1}.xml", f"{server.base}/pages{i + 1}.xml")
            for i in range(4)
        }
        server.routes |= {f"/pages{i}.xml": pages(f"{server.base}/{i}") for i in range(4)}
        report = read(server, "/0.xml")
        assert found(server, report) == ["/1", "/2"]
        assert "/3.xml" not in server.asked
        assert [note.split()[1] for note in report.notes] == [f"{server.base}/2.xml"]


def test_the_number_of_files_is_limited_and_refused_ones_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sitemap, "MAX_FILES", 4)
    with serving({}) as server:
        own = [f"{server.base}/{i}.xml" for i in range(4)]
        server.routes |= {f"/{i}.xml": pages(f"{server.base}/{i}") for i in range(4)}
        server.routes["/s.xml"] = index(own[0], "https://example.com/s.xml", *own[1:])
        report = read(server, "/s.xml")
        assert found(server, report) == ["/0", "/1"]
        assert report.notes[-1].startswith(f"sitemap {own[2]} is not read: the limit")


def test_the_number_of_pages_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_URLS", 3)
    with serving({}) as server:
        base = server.base
        server.routes |= {
            "/sitemap.xml": index(f"{base}/1.xml", f"{base}/2.xml"),
            "/1.xml": pages("https://example.com/", *(f"{base}/{i}" for i in range(5))),
            "/2.xml": pages(f"{base}/9"),
        }
        report = read(server)
        assert found(server, report) == ["/0", "/1", "/2"]
        assert "/2.xml" not in server.asked
        assert len(report.notes) == 1


def test_a_file_above_the_size_limit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 1000)
    with serving({}) as server:
        server.routes["/sitemap.xml"] = pages(*[f"{server.base}/a"] * 100)
        report = read(server)
        assert report.entries == ()
        assert Outcome.TOO_LARGE in report.notes[0]
