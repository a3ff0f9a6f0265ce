from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.urls import Scope, looks_like_page, normalise, resolve
from qindex_pipeline.site_options import DEFAULT_EXCLUDE


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Docs.Example.COM:80/A", "http://docs.example.com/A"),
        ("https://x.org:443", "https://x.org/"),
        ("https://x.org:8443/", "https://x.org:8443/"),
        ("https://x.org/a/./b/../c", "https://x.org/a/c"),
        ("https://x.org/../../a", "https://x.org/a"),
        ("https://x.org/a/..", "https://x.org/"),
        ("https://x.org/%7euser/%2e/%c3%a9", "https://x.org/~user/%C3%A9"),
        ("https://x.org/sp ace/é", "https://x.org/sp%20ace/%C3%A9"),
        ("https://x.org/100%", "https://x.org/100%25"),
        ("https://x.org/a#part", "https://x.org/a"),
        ("https://x.org/?b=2&a=1&utm_source=x&ref=y&gclid=z", "https://x.org/?a=1&b=2"),
        ("https://x.org/?reference=1&empty=", "https://x.org/?empty=&reference=1"),
        ("https://user:secret@x.org/", "https://x.org/"),
        ("https://BÜCHER.example/", "https://xn--bcher-kva.example/"),
        ("http://[::1]:8000/", "http://[::1]:8000/"),
        ("https://x.org/a/", "https://x.org/a/"),
        ("https://x.org/a/index.html", "https://x.org/a/index.html"),
        ("mailto:a@x.org", None),
        ("https:///path", None),
        ("http://x.org:port/", None),
        ("http://[::1", None),
    ],
)
def test_a_url_has_one_spelling(url: str, expected: str | None) -> None:
    assert normalise(url) == expected


@given(st.text(max_size=60), st.text(max_size=30))
def test_normalising_twice_changes_nothing(path: str, query: str) -> None:
    once = normalise(f"https://x.org/{path}?{query}")
    assert once is None or normalise(once) == once


@given(st.text(max_size=80))
def test_any_text_is_a_url_or_not_but_never_an_error(text: str) -> None:
    once = normalise(text)
    assert once is None or normalise(once) == once
    target = resolve("https://x.org/a/", text)
    assert target is None or normalise(target) == target


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("b", "https://x.org/a/b"),
        ("../c?x=1#y", "https://x.org/c?x=1"),
        ("//x.org/d", "https://x.org/d"),
        (" e ", "https://x.org/a/e"),
        ("{{ url }}", None),
        ("/p/${id}", None),
        ("<%= url %>", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("x" * 2001, None),
        ("http://[bad", None),
    ],
)
def test_links_are_resolved_or_rejected(href: str, expected: str | None) -> None:
    assert resolve("https://x.org/a/", href) == expected


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/guide", True),
        ("/guide.html?x=1", True),
        ("/search-api/", True),
        ("/research/", True),
        ("/v1.2/", True),
        ("/a.PDF", False),
        ("/a/logo.svg", False),
        ("/a/a/a/a/", False),
    ],
)
def test_only_links_to_pages_are_followed(path: str, wanted: bool) -> None:
    assert looks_like_page("https://x.org" + path) is wanted


@pytest.mark.parametrize(
    ("url", "prefixes", "inside"),
    [
        ("http://x.org:8000/a", (), True),
        ("http://x.org:8001/a", (), False),
        ("http://x.org/a", (), False),
        ("http://docs.x.org:8000/a", (), False),
        ("http://notx.org:8000/a", (), False),
        ("https://x.org:8000/a", (), True),
        ("http://x.org:8000/docs", ("/docs/",), True),
        ("http://x.org:8000/docs/a", ("/docs",), True),
        ("http://x.org:8000/docs-old/a", ("/docs",), False),
        ("http://x.org:8000/b/c", ("/a", "/b"), True),
    ],
)
def test_a_site_is_one_host_and_port(url: str, prefixes: tuple[str, ...], inside: bool) -> None:
    assert Scope(frozenset({"x.org:8000"}), prefixes).contains(url) is inside


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/genindex.html", False),
        ("/genindex-A.html", False),
        ("/search/?q=x", False),
        ("/py-modindex.html", False),
        ("/_modules/x.html", False),
        ("/_sources/x", False),
        ("/blog/tags/x", False),
        ("/404.html", False),
        ("/a?print=1", False),
        ("/a?x=1&lang=de", False),
        ("/search-api/", True),
        ("/research/", True),
    ],
)
def test_generated_indexes_and_variants_are_left_out_by_default(path: str, wanted: bool) -> None:
    scope = Scope(frozenset({"x.org"}), exclude=DEFAULT_EXCLUDE)
    assert scope.wants("https://x.org" + path) is wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("/v2/a", True), ("/v2/old/a", False), ("/v1/a", False), ("/v2/a.pdf", False)],
)
def test_include_and_exclude_narrow_what_links_lead_to(path: str, wanted: bool) -> None:
    scope = Scope(frozenset({"x.org"}), include=("/v2/",), exclude=("/old/",))
    assert scope.wants("https://x.org" + path) is wanted


def test_further_hosts_belong_to_a_site_when_they_are_named() -> None:
    scope = Scope(frozenset({"x.org", "www.x.org"}))
    assert scope.contains("https://www.x.org/a")
    assert not scope.contains("https://api.x.org/a")


def test_the_normal_form_keeps_scheme_and_host_apart_from_the_path() -> None:
    assert urlsplit(normalise("https://x.org//evil.org/a") or "").netloc == "x.org"
