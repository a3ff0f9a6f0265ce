"""What the crawl says of a page that a person names."""

from dataclasses import asdict
from typing import Any

import pytest

from qindex_pipeline.crawl.outcomes import Outcome, State
from qindex_pipeline.explaining.gathering.crawled import crawled, is_page, nearest
from qindex_pipeline.explaining.verdicts.unfound import unfound
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.explaining.lantern import ROOT, page

SITE = Site(key="docs", start_url=f"{ROOT}guide/", path_prefixes=("/guide",), exclude=("/old/",))


def rows(*pages: Any) -> list[dict[str, Any]]:
    return [asdict(each) | {"has_content": each.markdown is not None} for each in pages]


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ("guide/a.html", True),
        ("/guide/a.html", True),
        (f"{ROOT}guide/a.html", True),
        (f"{ROOT}guide/a.html#top", True),
        ("https://docs.example.com/guide/a.html", True),
        ("guide/b.html", False),
        ("http://other.example.com/guide/a.html", False),
    ],
)
def test_a_page_is_named_by_its_url_or_its_path(asked: str, same: bool) -> None:
    assert is_page(asked, f"{ROOT}guide/a.html") is same


def test_a_page_is_found_under_every_address_that_leads_to_it() -> None:
    moved = page("guide/a", final_url=f"{ROOT}guide/b", canonical_url=f"{ROOT}guide/c")
    for name in ("guide/a", "guide/b", "guide/c"):
        assert crawled(name, rows(moved), SITE).url == f"{ROOT}guide/a"


def test_of_several_requests_the_one_that_was_stored_speaks() -> None:
    gone = page("guide/old", Outcome.DUPLICATE_URL, canonical_url=f"{ROOT}guide/a")
    found = crawled("guide/a", rows(gone, page("guide/a")), SITE)
    assert (found.outcome, found.state) == ("ok", "present")


def test_a_duplicate_names_the_address_under_which_it_is_stored() -> None:
    stored = page("guide/a")
    same = page("guide/copy", Outcome.DUPLICATE_URL, page_id=stored.page_id)
    assert crawled("guide/copy", rows(stored, same), SITE).detail == f"it is stored as {stored.url}"


def test_a_page_that_failed_says_how_and_that_its_content_is_kept() -> None:
    failed = page("guide/a", Outcome.HTTP_5XX, status=503, error="overloaded", markdown="# A")
    found = crawled("guide/a", rows(failed), SITE)
    assert found.state == State.UNKNOWN
    assert found.detail == "HTTP 503, overloaded, the content of an earlier run is kept"


@pytest.mark.parametrize(
    ("asked", "outcome", "detail"),
    [
        ("http://other.example.com/a", "out_of_scope", "its host is none of docs.example.com"),
        ("blog/a", "out_of_scope", "it is not below /guide"),
        ("guide/old/a", "out_of_scope", "the site's options include or exclude leave it out"),
        ("guide/a.pdf", "out_of_scope", "its address is none of a page"),
        ("guide/nowhere", None, "no page that was read links to it"),
        ("guide/intor", None, f"the nearest that was: {ROOT}guide/intro"),
        ("guide/next", None, f"{ROOT}guide/intro links to it, but the crawl ended with 1 pages of"),
    ],
)
def test_a_page_that_was_never_asked_says_why(asked: str, outcome: str | None, detail: str) -> None:
    found = crawled(asked, rows(page("guide/intro", links=[f"{ROOT}guide/next"])), SITE)
    assert (found.outcome, found.state) == (outcome, None)
    assert detail in found.detail


def test_without_the_sites_options_nothing_is_said_of_the_scope() -> None:
    found = crawled("blog/a", rows(page("guide/intro")), None)
    assert (found.outcome, found.url) == (None, f"{ROOT}blog/a")


def test_an_address_that_is_like_none_has_no_nearest_page() -> None:
    assert nearest("zzz", [f"{ROOT}guide/intro"]) is None
    assert nearest("guide/intor", [f"{ROOT}guide/intro"]) == f"{ROOT}guide/intro"


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_of_a_crawl_has_a_verdict_and_what_is_not_stored_an_advice(
    outcome: Outcome,
) -> None:
    found = unfound(crawled("guide/a", rows(page("guide/a", outcome)), SITE), [], [])
    assert found.text.endswith(".")
    assert found.advice or found.kind == "duplicate_page"


def test_without_the_crawls_table_the_verdict_says_so() -> None:
    assert unfound(None, [], []).text.endswith("the crawl's table is not at hand.")
