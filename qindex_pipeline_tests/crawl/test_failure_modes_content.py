"""What has gone wrong with the text of pages: what was read, chosen and taken for its label.

Every page that a test needs is written down and crawled once, with all others of its file, as one
site; the tests look at the rows.
"""

from collections.abc import Mapping

import pytest

from qindex_pipeline.crawl import Page
from qindex_pipeline_tests.crawl.hostile import Reply, crawled, outcomes, page, serving
from qindex_pipeline_tests.crawl.written_site import SENTENCE, WrittenSite

SITE = WrittenSite()


@pytest.fixture(scope="module")
def rows() -> Mapping[str, Page]:
    return SITE.rows()


LEADS = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<?xml version='1.0' encoding='utf-8' standalone='no'?>\n",
    '\n  <?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>',
    '\ufeff<?xml version="1.0" encoding="UTF-8"?>',
]
DECLARED = [
    SITE.page(lead + page(f"declared {n} {kind}", f"/next{n}{kind}").body.decode(), kind)
    for n, lead in enumerate(LEADS)
    for kind in ("text/html", "application/xhtml+xml")
]


@pytest.mark.parametrize("path", DECLARED)
def test_a_page_with_an_xml_declaration_is_read_and_leads_on(
    rows: Mapping[str, Page], path: str
) -> None:
    row = rows[path]
    assert (row.outcome, row.title) == ("ok", "T")
    assert "This is the text of declared" in (row.markdown or "")
    assert "rror" not in (row.markdown or "")
    assert [link.rpartition("/next")[1] for link in row.links or ()] == ["/next"]


SIGNATURE = SITE.main(
    '<dl class="py function"><dt class="sig sig-object py" id=csv.reader><span class='
    '"sig-prename descclassname"><span class=pre>csv.</span></span><span class="sig-name">'
    "<span class=pre>reader</span></span><span class=sig-paren>(</span><em class=sig-param>"
    "<span class=n><span class=pre>csvfile</span></span></em>, <em class=sig-param><span "
    "class=n><span class=pre>dialect</span></span><span class=o><span class=pre>=</span>"
    "</span><span class=default_value><span class=pre>'excel'</span></span></em>, <em class="
    "sig-param><span class=o><span class=pre>**</span></span><span class=n><span class=pre>"
    "fmtparams</span></span></em><span class=sig-paren>)</span></dt><dd><p>Return a reader."
    "</p></dd></dl>"
)


def test_a_signature_reads_as_it_is_typed_and_its_description_follows(
    rows: Mapping[str, Page],
) -> None:
    plain = (rows[SIGNATURE].markdown or "").replace("\\", "").replace("_", "")
    assert "csv.reader(csvfile, dialect='excel', **fmtparams)" in plain
    assert plain.index("fmtparams") < plain.index("Return a reader.")


LINKED = (
    '<p>Call <a href="/open">open</a> with <strong>two</strong> <code>str</code> values and '
    f"<em>wait</em>.</p><p>{SENTENCE * 10}</p>"
)


@pytest.mark.parametrize(
    "path", [SITE.main(LINKED), SITE.nav_heavy(0, LINKED), SITE.nav_heavy(300, LINKED)],
    ids=["container", "no navigation", "nav-heavy"],
)  # fmt: skip
def test_words_in_links_and_emphasis_stay_in_their_sentence(
    rows: Mapping[str, Page], path: str
) -> None:
    words = (rows[path].markdown or "").replace("*", "").replace("`", "").replace("_", "")
    assert "with two str values and wait." in words
    assert "open" in words.partition("with two")[0][-60:]


TEXTS = {"a line": "Port 80 is for plain HTTP.", "3": SENTENCE * 3, "40": SENTENCE * 40}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(
            SITE.nav_heavy(entries, f"<p>{text}</p>"), text, id=f"{name} and {entries} links"
        )
        for name, text in TEXTS.items()
        for entries in (0, 30, 170, 600)
    ],
)
def test_the_content_of_a_page_is_there_whatever_was_chosen(
    rows: Mapping[str, Page], path: str, text: str
) -> None:
    row = rows[path]
    assert row.outcome == "ok"
    assert text.strip() in (row.markdown or ""), row.chosen_reason


WORDS = "The tool reads the file and writes the result to disk. "  # 11, with 5 more by nav_heavy


@pytest.mark.parametrize(
    ("path", "ratio", "chosen"),
    [
        (SITE.nav_heavy(180, f"<p>{WORDS * 10}</p>"), 4.1, "fit"),
        (SITE.nav_heavy(169, f"<p>{WORDS * 10}</p>"), 3.9, "raw"),
    ],
    ids=["4.1", "3.9"],
)
def test_a_page_without_container_gets_its_fit_text_above_four_times_its_words(
    rows: Mapping[str, Page], path: str, ratio: float, chosen: str
) -> None:
    row = rows[path]
    assert row.nav_ratio == pytest.approx(ratio, abs=0.06)
    assert row.chosen == chosen
    assert ("menu entry" in (row.markdown or "")) is (chosen != "fit")


@pytest.mark.parametrize(
    "path",
    [
        SITE.page(f"{mark}<main><h1>C# and #tags</h1><p>{mark} {SENTENCE} Note a#b.</p></main>")
        for mark in ("#", "raw:", "file:///etc/hosts #", "raw://", "{%")
    ],
)
def test_a_page_may_begin_with_any_character(rows: Mapping[str, Page], path: str) -> None:
    row = rows[path]
    assert row.outcome == "ok"
    assert "# C# and #tags" in (row.markdown or "").replace("\\", "")
    assert "a#b." in (row.markdown or "")


DEEP = {
    "divs": ("<div>" * 200 + f"{SENTENCE} 1" + "</div>" * 200, "ok"),
    "lists": ("<ul><li>item " * 100 + f"{SENTENCE} 2", "ok"),
    "quotes": ("<blockquote>" * 200 + f"{SENTENCE} 3", "ok"),
    "200,000 divs": ("<div>" * 200_000 + SENTENCE, "parse_error"),
    "100,000 spans": ("<b><i>" * 50_000 + SENTENCE, "parse_error"),
    "30,000 lists": ("<ul><li>" * 30_000 + SENTENCE, "parse_error"),
}


@pytest.mark.parametrize(
    ("path", "outcome"),
    [(SITE.page(html), outcome) for html, outcome in DEEP.values()],
    ids=DEEP.keys(),
)
def test_deep_markup_is_read_or_costs_its_own_page_only(
    rows: Mapping[str, Page], path: str, outcome: str
) -> None:
    assert rows[path].outcome == outcome
    assert (SENTENCE.strip() in (rows[path].markdown or "")) is (outcome == "ok")


ODD = {
    "ticks": "<pre>" + "`" * 50_000,
    "brackets": "<p>" + "[" * 20_000,
    "cells": "<table>" + "<tr><td>|" * 5_000,
    "attributes": "<a href=x " + "y " * 40_000 + ">z</a>",
    "emoji": "<p>" + "&#x1F600;" * 20_000,
}


@pytest.mark.parametrize("path", [SITE.page(html) for html in ODD.values()], ids=ODD.keys())
def test_odd_markup_is_an_outcome_and_the_site_goes_on(rows: Mapping[str, Page], path: str) -> None:
    assert rows[path].outcome in {"ok", "parse_error", "empty_content"}
    assert set(SITE.pages) <= rows.keys()


BOTS = SITE.main(
    "<p>Checking your browser before accessing: Cloudflare, captcha, access denied, please "
    "verify you are human, Blocked by anti-bot protection, Crawl4AI Error: HTTP 403.</p>"
)


def test_a_page_about_robots_checks_and_errors_is_documentation(rows: Mapping[str, Page]) -> None:
    assert rows[BOTS].outcome == "ok"
    assert "Cloudflare" in (rows[BOTS].markdown or "")


@pytest.mark.parametrize(
    ("path", "h1"),
    [
        (SITE.encoded("Größe", "latin-1", "text/html; charset=ISO-8859-1"), "Größe"),
        (SITE.encoded("Größe", "latin-1", "text/html", meta=True), "Größe"),
        (SITE.encoded("日本", "shift_jis", "text/html; charset=Shift_JIS"), "日本"),
        (SITE.encoded("日本", "euc-jp", "text/html", meta=True), "日本"),
        (SITE.encoded("Größe", "utf-16", "text/html; charset=utf-8"), "Größe"),
        (SITE.encoded("Größe", "utf-8-sig", "text/html; charset=latin-1"), "Größe"),
        (SITE.encoded("Größe", "utf-8", "text/html"), "Größe"),
        (SITE.encoded("Größe “x”", "cp1252", "text/html"), "Größe “x”"),
        (SITE.encoded("Größe", "utf-8", "text/html; charset=banana"), "Größe"),
    ],
)
def test_a_page_reads_right_in_any_encoding(rows: Mapping[str, Page], path: str, h1: str) -> None:
    assert (rows[path].h1 or "").startswith(f"{h1} ")


@pytest.mark.parametrize(
    "body", ["<p>It listens on port 80.", "<h1>Exit codes</h1>0 done, 1 failed"]
)
def test_a_page_of_a_few_bytes_is_documentation(body: str) -> None:
    with serving({"/": Reply(body.encode())}) as server:
        assert outcomes(crawled(server)) == {"/": "ok"}


def test_labels_are_the_pages_own_and_the_summary_is_no_navigation() -> None:
    def manual(name: str, *links: str) -> Reply:
        anchors = "".join(f'<a href="{link}">next page</a>' for link in links)
        return Reply(
            f"<title>{name} — Lamp 3.2 documentation</title><div id=hd><h1><a href=/>Lamp 3.2 "
            f"documentation</a></h1><div class=nav>« previous | up | next »{anchors}</div></div>"
            f"<div class=document><div class=body><h1>{name}</h1><p>{name} is what this page "
            f"tells readers about. {SENTENCE}</p></div></div>".encode()
        )

    names = ["Wicks", "Oils", "Glass", "Bases", "Flames"]
    routes = {f"/{name}": manual(name) for name in names}
    with serving({"/": manual("Overview", *routes), **routes}) as server:
        rows = list(crawled(server).values())
    for row, name in zip(rows, ["Overview", *names], strict=True):
        assert (row.title, row.h1) == (name, name)
        assert (row.page_summary or "").startswith(f"{name} is what this page tells readers")
