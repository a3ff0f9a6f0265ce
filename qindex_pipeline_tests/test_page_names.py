"""When two addresses are one page."""

import pytest

from qindex_pipeline.page_names import names_of, page_name


@pytest.mark.parametrize(
    ("label", "url"),
    [
        ("a.html", "https://docs.example.com/a.html"),
        ("/a.html", "http://docs.example.com/a.html#part"),
        ("", "https://docs.example.com"),
        ("index.html", "https://docs.example.com/"),
        ("guide/", "https://docs.example.com/guide/index.html"),
        ("guide", "https://docs.example.com/guide/"),
        ("f%C3%BC%20r", "https://docs.example.com/fü r"),
        ("a?v=2", "https://docs.example.com/a?v=2"),
        ("https://Docs.example.com/a/", "http://docs.example.com/a"),
        ("http://docs.example.com", "https://docs.example.com/index.html"),
    ],
)
def test_a_label_means_the_page(label: str, url: str):
    assert page_name(label) in names_of(url)


@pytest.mark.parametrize(
    ("label", "url"),
    [
        ("a", "https://docs.example.com/a.html"),
        ("A.html", "https://docs.example.com/a.html"),
        ("b/a.html", "https://docs.example.com/a.html"),
        ("a", "https://docs.example.com/a?v=2"),
        ("https://other.example.com/a", "https://docs.example.com/a"),
        ("myindex.html", "https://docs.example.com/my"),
    ],
)
def test_a_label_means_no_other_page(label: str, url: str):
    assert page_name(label) not in names_of(url)
