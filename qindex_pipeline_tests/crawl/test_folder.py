from pathlib import Path

import pytest

from qindex_pipeline.crawl import Page, crawl, why_unusable
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import page


def write(folder: Path, **pages: bytes) -> None:
    for name, body in pages.items():
        path = folder / f"{name.replace('__', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


def crawl_folder(folder: Path, base_url: str = "") -> list[Page]:
    site = Site(key="built", folder=folder, base_url=base_url)
    pages = list(crawl(site).settled.pages)
    assert why_unusable(site, pages) is None
    return pages


def test_pages_of_a_folder_carry_the_base_url_and_never_the_port(tmp_path: Path) -> None:
    write(
        tmp_path,
        index=page("home", "guide/", "clean", "/outside", "https://x.org/other").body,
        guide__index=page("guide", "../index.html#top").body,
        clean=page("clean").body,
    )
    pages = crawl_folder(tmp_path, base_url="https://x.org/proj")
    assert [(row.url, str(row.outcome)) for row in pages] == [
        ("https://x.org/proj/", "ok"),
        ("https://x.org/proj/guide/", "ok"),
        ("https://x.org/proj/clean", "ok"),
        ("https://x.org/proj/index.html", "duplicate_content"),
    ]
    assert "127.0.0.1" not in repr(pages)
    assert "(https://x.org/proj/guide/)" in (pages[0].markdown or "")


def test_a_redirect_of_the_folders_server_stays_under_the_base_url(tmp_path: Path) -> None:
    write(tmp_path, index=page("home", "guide").body, guide__index=page("guide").body)
    pages = crawl_folder(tmp_path, base_url="https://x.org/proj/")
    assert pages[1].final_url == "https://x.org/proj/guide/"


def test_without_base_url_the_key_is_the_host(tmp_path: Path) -> None:
    write(tmp_path, index=page("home").body)
    assert [row.url for row in crawl_folder(tmp_path)] == ["http://built/"]


def test_a_folder_without_index_is_crawled_from_all_its_pages(tmp_path: Path) -> None:
    write(tmp_path, b=page("b").body, a__x=page("x").body)
    pages = crawl_folder(tmp_path)
    assert [row.url for row in pages] == ["http://built/a/x.html", "http://built/b.html"]
    assert {row.discovered_by for row in pages} == {"start"}


def test_robots_and_directory_listings_of_a_folder_are_nothing(tmp_path: Path) -> None:
    write(tmp_path, index=page("home", "sub/").body, sub__page=page("sub").body)
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /")
    assert [str(row.outcome) for row in crawl_folder(tmp_path)] == ["ok", "http_404"]


def test_a_folder_that_does_not_exist_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        crawl_folder(tmp_path / "none")


def test_a_folder_without_pages_is_failed_work(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("x")
    with pytest.raises(WorkError, match="holds no HTML pages"):
        crawl_folder(tmp_path)
