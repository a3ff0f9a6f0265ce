"""What a crawl says of itself in the metadata of asset raw_pages, and in the closing table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import dagster as dg

from qindex_pipeline.crawl import Crawled, Outcome, Page, State
from qindex_pipeline.crawl.outcomes import state_of
from qindex_pipeline.crawl.run import Crawl
from qindex_pipeline.crawl.states import Settled
from qindex_pipeline.crawl_metadata import crawl_metadata
from qindex_pipeline.ingest import Ingested
from qindex_pipeline.report import report_rows
from qindex_pipeline_tests.crawl.hostile import Reply, page, serving, whole_crawl


def row(number: int, outcome: Outcome = Outcome.OK, **values: object) -> Page:
    made = Page(
        site="s", url=f"http://s/{number}", page_id=str(number), depth=0, discovered_by="link",
        outcome=outcome, state=state_of(outcome), elapsed_ms=number, fetched_at=datetime.now(UTC),
        fetch_mode="http", markdown="text" if outcome is Outcome.OK else None,
    )  # fmt: skip
    return replace(made, **values)


def crawled(found: Sequence[Page], settled: Sequence[Page] | None = None) -> Crawled:
    return Crawled(Crawl(found, None, 9, 2.0), Settled(found if settled is None else settled))


def records(value: object) -> list[dict[str, object]]:
    assert isinstance(value, dg.TableMetadataValue)
    return [dict(record.data) for record in value.records]


def test_a_second_night_counts_what_was_kept_what_is_gone_and_what_failed():
    routes = {"/": page("start", "/a", "/b", "/c"), **{f"/{x}": page(f"lamp {x}") for x in "abc"}}
    with serving(routes) as server:
        first = whole_crawl(server)
        server.routes |= {"/a": Reply(b"", 503), "/b": Reply(b"", 404), "/": page("start", "/c")}
        second = whole_crawl(server, last=first.settled.pages)
    before, after = crawl_metadata(first), crawl_metadata(second)
    names = ("pages_with_content", "kept_unknown", "gone", "failed_pages")
    assert [before[name] for name in names] == [4, 0, 0, 0]
    assert [after[name] for name in names] == [3, 1, 1, 1]
    assert after["outcome/http_5xx"] == after["outcome/http_404"] == 1
    assert after["not_modified"] == 1
    (failed,) = records(after["failed"])
    assert failed["url"] == server.base + "/a"
    assert failed["status"] == 503
    states = {(item["outcome"], item["state"]) for item in records(after["outcomes"])}
    assert {("http_5xx", "unknown"), ("http_404", "gone"), ("ok", "present")} <= states
    assert sum(float(str(item["share"])) for item in records(after["outcomes"])) == 1


def test_a_page_that_was_left_out_without_being_asked_is_gone():
    left_out = row(2, Outcome.OUT_OF_SCOPE)
    numbers = crawl_metadata(crawled([row(1)], [row(1), left_out]))
    assert numbers["gone"] == 1


def test_what_was_never_stored_is_not_gone():
    dead_link, twice = (
        row(2, Outcome.HTTP_404),
        row(3, Outcome.DUPLICATE_URL, discovered_by="known"),
    )
    assert crawl_metadata(crawled([row(1), dead_link, twice]))["gone"] == 0


def test_the_ten_slowest_pages_are_shown_slowest_first():
    shown = records(
        crawl_metadata(crawled([row(number * 1000) for number in range(12)]))["slowest"]
    )
    assert [item["seconds"] for item in shown] == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert set(shown[0]) == {"url", "seconds", "bytes", "mode"}


def test_fifty_failed_pages_are_shown_each_in_one_line_and_the_rest_is_counted():
    pages = [row(number, Outcome.HTTP_5XX, error="first\nsecond") for number in range(53)]
    shown = records(crawl_metadata(crawled(pages))["failed"])
    assert len(shown) == 51
    assert shown[0]["error"] == "first second"
    assert shown[-1]["url"] == "… and 3 more"


def test_a_crawl_without_failures_has_an_empty_table_of_them():
    assert records(crawl_metadata(crawled([row(1)]))["failed"]) == []


def test_the_rate_is_of_all_asked_pages_and_a_crawl_in_no_time_has_one():
    assert crawl_metadata(crawled([row(1), row(2)]))["pages_per_second"] == 1.0
    instant = Crawled(Crawl([row(1)], None, 1, 0.0), Settled([row(1)]))
    assert crawl_metadata(instant)["pages_per_second"] == 10.0


def closing_table(numbers: dict[str, object], **changes: object) -> dict[str, str]:
    assets = {
        "raw_pages": numbers,
        "change_report": changes,
        "chunks": {"chunks": 1, "repeated": 0},
        "candidate_questions": {
            "questions": 1, "generator": "rules", "llm_calls": 0, "answers_from_ledger": 0,
            "tokens_in": 0, "tokens_out": 0, "cost_usd": 0.0,
        },
        "grounded_questions": {"accepted": 1},
        "embeddings": {"texts_embedded": 1, "embedder": "minilm"},
        "question_index": {
            "points_written": 1, "points_unchanged": 0, "points_deleted": 0, "collection": "c",
            "live": True,
        },
    }  # fmt: skip
    return dict(report_rows(Ingested("s", True, 1.0, assets)))


def test_the_closing_table_speaks_of_kept_gone_cut_short_and_suspect_only_where_there_is_some():
    quiet = closing_table(dict(crawl_metadata(crawled([row(1)]))))
    assert quiet["pages"] == "1 ok"
    assert not [name for name in quiet if name.startswith(("pages ", "crawl "))]
    kept = row(2, Outcome.HTTP_5XX, markdown="text", state=State.UNKNOWN)
    gone = row(3, Outcome.HTTP_404, discovered_by="known")
    pages = [row(1), kept, gone]
    settled = Settled(pages, "the crawl read 1 page")
    loud = Crawled(Crawl(pages, Outcome.BUDGET_EXHAUSTED, 9, 1.0), settled)
    shown = closing_table(dict(crawl_metadata(loud)))
    assert shown["pages"] == "1 http_404, 1 http_5xx, 1 ok"
    assert shown["pages kept"].startswith("1 ")
    assert shown["pages gone"].startswith("1 ")
    assert shown["crawl cut short"] == "budget_exhausted"
    assert shown["crawl suspect"] == "the crawl read 1 page"


def test_the_closing_table_says_what_changed_from_the_second_run_on():
    numbers = dict(crawl_metadata(crawled([row(1)])))
    assert "changes" not in closing_table(numbers, summary="first report, 1 page", is_first=True)
    later = closing_table(numbers, summary="1 page added", is_first=False)
    assert later["changes"] == "1 page added"
