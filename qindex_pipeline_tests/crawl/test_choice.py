import pytest

from qindex_pipeline.crawl.extract.extraction import (
    Extraction,
    ExtractionOptions,
    check_selector,
    extract,
    extractor_version,
)

SENTENCE = "The tool reads the file and writes the result to disk. "  # 11 words
TEXT = f"<p>{SENTENCE * 10}</p>"
CODE = "<pre>x = 1</pre>"


def extracted(body: str, options: ExtractionOptions | None = None) -> Extraction:
    html = f"<html><body>{body}</body></html>"
    return extract(html, "https://x.org/docs/page", options or ExtractionOptions())


def menu(entries: int) -> str:
    links = (f'<li><a href="/a/long/way/to/{n:04}">menu entry</a></li>' for n in range(entries))
    return f"<ul>{''.join(links)}</ul>"


def nav_page(entries: int, text: str = TEXT, wrapper: str = "div") -> Extraction:
    """A page without container: links of two words each, then the text."""
    return extracted(f"<{wrapper}>{menu(entries)}</{wrapper}><div>{text}</div>")


@pytest.mark.parametrize("wrapper", ["div", "nav"])
@pytest.mark.parametrize(
    ("entries", "chosen"),
    [(171, "fit"), (159, "raw")],  # 452 and 428 words, 4.1 and 3.9 times the 110 of the text
)
def test_a_nav_heavy_page_without_container_becomes_its_fit_text(
    entries: int, chosen: str, wrapper: str
) -> None:
    result = nav_page(entries, wrapper=wrapper)
    assert result.chosen == chosen
    assert result.nav_ratio == pytest.approx((entries * 2 + 110) / 110)
    assert result.fit_words == 110
    assert ("menu entry" in result.markdown) is (chosen == "raw")
    assert (result.markdown == result.raw_markdown) is (chosen == "raw")
    fit_text = SENTENCE.strip()
    assert (result.fit_markdown or "").startswith(fit_text) is (chosen == "raw")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"<p>{SENTENCE * 4}</p>", "fit has 44 words"),
        (f"{TEXT}<form>{CODE}</form>", "fit loses code"),
    ],
)
def test_the_nav_rule_spares_pages_that_would_lose_text_or_code(text: str, reason: str) -> None:
    result = nav_page(300, text)
    assert (result.chosen, reason in result.chosen_reason) == ("raw", True)
    assert SENTENCE.strip() in result.markdown
    assert ("```\nx = 1\n```" in result.markdown) is (CODE in text)
    assert result.code_blocks_lost == 0


def test_the_nav_rule_is_not_asked_where_there_is_a_container() -> None:
    result = extracted(f"<div>{menu(400)}</div><div role=main>{TEXT}</div>")
    assert (result.chosen, result.selector, result.nav_ratio) == ("main", "[role=main]", None)
    assert (result.fit_markdown, result.fit_words, result.main_markdown) == (None, None, None)


def test_what_stays_of_a_page_without_its_marked_navigation_is_main_content() -> None:
    table = f"<div>{menu(60)}</div>"  # a page of links keeps them: its navigation is gone
    result = extracted(f"<nav>{menu(5)}</nav>{table}<footer>Imprint</footer>")
    assert (result.chosen, result.selector, result.nav_ratio) == ("main", "body", None)
    assert result.markdown.count("menu entry") == 60


def test_a_footer_alone_is_no_navigation() -> None:
    result = extracted(f"<div>{menu(171)}</div><div>{TEXT}</div><footer>Imprint</footer>")
    assert result.chosen == "fit"


def test_a_short_page_loses_its_header_and_footer_too() -> None:
    bar = "<div class=navheader><a href=/p>Prev</a> <a href=/u>Up to the chapter</a></div>"
    result = extracted(f"{bar}<h2>Indexes</h2><p>A list of them.</p>{bar}")
    assert result.markdown == "## Indexes\n\nA list of them."


def test_a_container_without_all_code_is_not_chosen_but_shown() -> None:
    result = extracted(f"<main>{TEXT}</main><div>{CODE}</div>")
    assert (result.chosen, result.selector) == ("raw", None)
    assert result.chosen_reason.startswith("main loses 1 code blocks; ")
    assert result.main_markdown == SENTENCE.strip() + " " + (SENTENCE * 9).strip()
    assert (result.code_blocks, result.code_blocks_lost) == (1, 0)


def test_code_in_a_footer_is_not_lost() -> None:
    result = extracted(f"<main>{TEXT}<footer>{CODE}</footer></main>")
    assert (result.selector, result.code_blocks, result.code_blocks_lost) == ("main", 1, 0)


@pytest.mark.parametrize(
    ("text", "density"),
    [
        ("<h1>Title</h1><p>Not one of these is a link.</p>", 0.0),
        ("<h1>A title of four</h1><p><a href=/x>four words of link</a></p>", 0.5),
        ("", 0.0),
    ],
)
def test_link_density_is_the_share_of_words_in_links(text: str, density: float) -> None:
    assert extracted(f"<main>{text}</main>").link_density == density


def test_the_owners_selector_comes_before_the_cascade() -> None:
    body = f"<main>{TEXT}</main><aside class=doc><nav>menu</nav><p>The right one.</p>{CODE}</aside>"
    result = extracted(body, ExtractionOptions(content_selector=".doc, .other"))
    assert result.markdown == "The right one.\n\n```\nx = 1\n```"
    assert (result.chosen, result.selector) == ("main", ".doc, .other")
    assert result.chosen_reason == "content_selector"


def test_the_owners_selector_takes_the_largest_match() -> None:
    body = f"<p class=doc>small</p><div class=doc>{TEXT}</div>"
    assert extracted(body, ExtractionOptions(content_selector=".doc")).main_words == 110


def test_where_the_owners_selector_matches_nothing_the_cascade_decides_and_says_so() -> None:
    result = extracted(f"<main>{TEXT}</main>", ExtractionOptions(content_selector=".doc"))
    assert (result.chosen, result.selector) == ("main", "main")
    assert result.chosen_reason == "content_selector matches nothing; container found"


def test_what_the_owner_drops_is_no_content_but_stands_in_the_whole_page() -> None:
    body = f"<main>{TEXT}<div class=ad>Buy {CODE}</div><p id=x>this</p></main>"
    result = extracted(body, ExtractionOptions(drop_selectors=(".ad", "#x")))
    assert (result.chosen, result.selector) == ("main", "main")
    assert "Buy" not in result.markdown
    assert "this" not in result.markdown
    assert "Buy" in result.raw_markdown
    assert (result.code_blocks, result.code_blocks_lost) == (0, 1)


def test_overlapping_selectors_of_the_owner_drop_once_and_never_the_page() -> None:
    options = ExtractionOptions(drop_selectors=("body", "p", "div p", "div", "#x"))
    result = extracted(
        f"<div id=x><p>this</p></div><main><h1>Kept as it is</h1>{CODE}</main>", options
    )
    assert result.markdown == "# Kept as it is\n\n```\nx = 1\n```"


@pytest.mark.parametrize(
    "name", ["class=menu", "role=navigation", "class=breadcrumbs", "class=toc"]
)
def test_a_body_is_no_noise_whatever_it_is_called(name: str) -> None:
    html = f"<html><body {name}><p><a href=/x>{SENTENCE}</a></p></body></html>"
    assert SENTENCE.strip() in extract(html, "https://x.org/").markdown


@pytest.mark.parametrize("text", ["", "  ", "p[", "p,,", "div >", "..", "p:nonsense"])
def test_what_is_no_selector_is_found_before_any_page(text: str) -> None:
    assert check_selector(text) == f"{text!r} is not a CSS selector"


@pytest.mark.parametrize("text", ["p", "main > .a:not(.b)", "[data-x='y'] h2, #z"])
def test_a_selector_is_a_selector(text: str) -> None:
    assert check_selector(text) is None


def test_the_version_names_the_code_and_the_options() -> None:
    options = [
        ExtractionOptions(),
        ExtractionOptions(content_selector="main"),
        ExtractionOptions(drop_selectors=("main",)),
        ExtractionOptions("main", (".ad",)),
    ]
    versions = [extractor_version(option) for option in options]
    code = versions[0]
    assert code.isdigit()
    assert len(set(versions)) == len(versions)
    assert all(version.startswith(f"{code}-") for version in versions[1:])
    assert versions == [extractor_version(option) for option in options]
