"""The change report through Dagster: a site on a server, edited between the nights."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import SecretStr

from qindex_pipeline.build import build_definitions
from qindex_pipeline.changes.wording import report_text
from qindex_pipeline.operations.sensors import alert_sensors
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHANGE_REPORT, PUBLISHED_PAGES, to_rows
from qindex_pipeline_tests.chain import failure, metadata
from qindex_pipeline_tests.crawl.hostile import Reply, Server, conditional, serving
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.webhook import Webhook, serving_webhook

KEY = "docs.lantern.dev"
HAIKU = "anthropic:claude-haiku-4-5-20251001"
UI = "https://dagster.example.com"
PATHS = ("/guide", "/oil", "/storm", "/mirror", "/imprint")
SENTENCES = {
    "Installing": "To install the lantern, pull the package from the shelf of the harbour office.",
    "Colours": "To change the colour of the light, turn the copper ring behind the mirror.",
    "Cleaning": "To clean the prism, use warm water and never any abrasive powder.",
    "Storing": "To store the lantern in winter, wrap the burner into a woollen blanket.",
    "Repairing": "To repair a broken hinge, order the replacement from the smith in town.",
    "Signals": "To signal a passing vessel, close the shutter twice within three seconds.",
    "Batteries": "To charge the emergency battery, connect the generator behind the staircase.",
    "Logbook": "To correct a logbook entry, strike the sentence through and sign the margin.",
}


def document(title: str, body: str) -> Reply:
    """A page that answers 304 to who has it already."""
    html = (
        f"<!doctype html><html lang=en><head><title>{title}</title></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )
    return conditional(Reply(html.encode()))  # type: ignore[return-value]


def guide(sentences: Mapping[str, str] = SENTENCES) -> Reply:
    """A page that is long enough to be cut at its headings."""
    sections = [
        f"<h2 id=s{number}>{heading}</h2><p>{sentence}</p>"
        + "".join(
            f"<p>Keeper number {number}{note} of the {heading.lower()} guild writes down which "
            "oil burned brightest that evening, how long the flame stood without a flicker, and "
            "who relieved the watch before the morning fog came over the harbour wall.</p>"
            for note in range(2)
        )
        for number, (heading, sentence) in enumerate(sentences.items())
    ]
    return document("Guide", "".join(sections))


def first_routes() -> dict[str, Any]:
    links = "".join(f'<a href="{path}">{path}</a> ' for path in (*PATHS, "/rope"))
    return {
        "/": document("Lantern", f"<p>The lantern lights harbours. {links}</p>"),
        "/guide": guide(),
        "/oil": document("Oil", "<p>Refill the paraffin reservoir every morning at sunrise.</p>"),
        "/storm": document("Storms", "<p>Lower the curtain before thunder reaches the bay.</p>"),
        "/mirror": document("Mirrors", "<p>Polish the parabolic mirror with chamois leather.</p>"),
        "/imprint": document("Imprint", "<p>Harbour office.</p><p>Pier nine, Lantern street.</p>"),
    }  # fmt: skip


@dataclass
class Night:
    """A run, and what it left."""

    run: dg.ExecuteInProcessResult
    posts: list[str]
    files: dict[str, bytes]
    reports: list[dict[str, Any]]

    @property
    def told(self) -> dict[str, Any]:
        """The metadata of the report."""
        return metadata(self.run)["change_report"]


@dataclass
class Place:
    """A site on a server, and the instance that knows all of its runs."""

    server: Server
    site: Site
    settings: Settings
    instance: dg.DagsterInstance
    webhook: Webhook
    cursors: dict[str, str | None] = field(default_factory=dict)

    def run(self, *assets: str, **settings: Any) -> dg.ExecuteInProcessResult:
        made = self.settings.model_copy(update=settings)
        definitions = build_definitions(made, sites={KEY: self.site})
        return definitions.resolve_job_def("site_refresh").execute_in_process(
            partition_key=KEY,
            raise_on_error=False,
            instance=self.instance,
            asset_selection=[dg.AssetKey(name) for name in assets] or None,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )

    def tick(self) -> list[str]:
        """What the sensors post of the runs since their last tick."""
        posted = len(self.webhook.bodies)
        for sensor in alert_sensors(self.settings, {KEY: self.site}):
            cursor = self.cursors.get(sensor.name)
            context = dg.build_sensor_context(instance=self.instance, cursor=cursor)
            result = sensor.evaluate_tick(context)
            self.cursors[sensor.name] = result.cursor
            assert not [found for found in result.dagster_run_reactions or () if found.error]
        return self.webhook.texts[posted:]

    def night(self, **settings: Any) -> Night:
        run = self.run(**settings)
        store = ParquetStore(self.settings.data)
        files = {
            table.name: Path(store.path(table, KEY)).read_bytes()
            for table in (CHANGE_REPORT, PUBLISHED_PAGES)
        }
        reports = to_rows(CHANGE_REPORT, store.read(CHANGE_REPORT, KEY))
        return Night(run, self.tick(), files, reports)


@dataclass
class Nights:
    """Five nights of one site."""

    place: Place
    first: Night
    unchanged: Night
    edited: Night
    failed: Night
    after: Night

    @property
    def base(self) -> str:
        return self.place.server.base


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    folder = tmp_path_factory.mktemp("nights")
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(first_routes()) as server,
        AnthropicServer(models=(HAIKU.partition(":")[2],)) as llm,
        serving_webhook("token") as webhook,
        dg.DagsterInstance.ephemeral() as instance,
    ):
        for name in tuple(os.environ):
            if name.startswith(("QINDEX_", "QDRANT_", "OPENAI_", "ANTHROPIC_")):
                patch.delenv(name)
        settings = Settings(
            profile="offline",
            generator=HAIKU,
            anthropic_base_url=llm.url,
            ANTHROPIC_API_KEY=SecretStr("sk-test"),
            data=str(folder / "data"),
            sites=folder / "sites.yaml",
            webhook_url=SecretStr(webhook.url),
            webserver_url=UI,
        )
        site = Site(key=KEY, start_url=server.base + "/", retries=0)
        add_site(settings.sites, site)
        place = Place(server, site, settings, instance, webhook)
        place.tick()
        first, unchanged = place.night(), place.night()
        server.routes |= {
            "/rope": document("Ropes", "<p>Splice the mooring rope with seven tucks.</p>"),
            "/guide": guide(SENTENCES | {"Colours": "To colour the light, slide the glass in."}),
            "/oil": Reply(b"<h1>no</h1>", 404),
            "/storm": Reply(b"<h1>ill</h1>", 503),
        }
        edited = place.night()
        server.routes["/mirror"] = document("Mirrors", "<p>Replace a blind mirror by tin.</p>")
        failed = place.night(anthropic_api_key=SecretStr("sk-wrong"))
        server.routes["/storm"] = first_routes()["/storm"]
        yield Nights(place, first, unchanged, edited, failed, place.night())


def test_a_first_report_counts_and_lists_no_page_as_added(nights: Nights) -> None:
    (row,) = nights.first.reports
    assert (row["is_first"], row["since"], row["pages"], row["chunks"]) == (True, None, 6, 13)
    assert [row[name] for name in ("added", "changed", "gone", "unknown")] == [[]] * 4
    assert (row["llm_calls"], row["runs"]) == (13, 1)
    assert row["cost_usd"] == metadata(nights.first.run)["candidate_questions"]["cost_usd"] > 0
    assert row["accepted"] == metadata(nights.first.run)["grounded_questions"]["accepted"]
    assert nights.first.told["summary"] == "first report, 6 pages"
    (post,) = nights.first.posts
    assert post.startswith(f"{KEY}: first report, 6 pages\n")


def test_an_unchanged_night_writes_nothing_posts_nothing_and_says_so(nights: Nights) -> None:
    assert nights.unchanged.run.success
    assert nights.unchanged.files == nights.first.files
    assert nights.unchanged.posts == []
    told = nights.unchanged.told
    assert told["summary"] == "nothing changed"
    assert (told["llm_calls"], told["cost_usd"]) == (0, 0.0)
    assert "report_id" not in told


def test_four_edits_are_told_and_nothing_else(nights: Nights) -> None:
    first, row = nights.edited.reports
    today, base = row["started_at"], nights.base
    assert row["added"] == [{"url": f"{base}/rope", "title": "Ropes"}]
    assert row["changed"] == [
        {
            "url": f"{base}/guide", "title": "Guide", "old_url": None, "old_title": None,
            "chunks_added": 1, "chunks_removed": 1, "sections": ["Colours"],
        }
    ]  # fmt: skip
    assert row["gone"] == [
        {"url": f"{base}/oil", "title": "Oil", "outcome": "http_404", "status": 404}
    ]
    (unknown,) = row["unknown"]
    since, read_at = unknown["since"], unknown["read_at"]
    assert unknown == {
        "url": f"{base}/storm", "title": "Storms", "outcome": "http_5xx", "status": 503,
        "since": since, "read_at": read_at, "is_new": True,
    }  # fmt: skip
    assert first["started_at"] <= read_at <= first["reported_at"] < today <= since
    assert row["recovered"] == []
    assert row["since"] == first["reported_at"]
    assert (row["llm_calls"], row["runs"]) == (2, 2)


BANDS = ("confidence", "confidence_before")


def test_the_report_of_four_edits_reads_like_this(nights: Nights) -> None:
    first, row = nights.edited.reports
    base, (storm,), bands = nights.base, row["unknown"], row["confidence"]
    tokens = f"{row['tokens_in']} tokens in, {row['tokens_out']} out"
    passing, refused = f"{bands['false_accept']:.0%}", f"{bands['false_refuse']:.0%}"
    threshold, before = (f"{row[name]['threshold']:.2f}" for name in BANDS)
    threshold += "" if threshold == before else f" ({before} before)"
    since, read_at = (f"{storm[name]:%Y-%m-%d}" for name in ("since", "read_at"))
    text = f"""\
docs.lantern.dev: 1 page added, 1 changed, 1 gone, 1 not readable
{row["reported_at"]:%Y-%m-%d %H:%M} UTC, compared with {first["reported_at"]:%Y-%m-%d %H:%M}

Added (1)
- Ropes {base}/rope

Changed (1)
- Guide (chunks +1 −1 in “Colours”) {base}/guide

Gone (1)
- Oil (HTTP 404) {base}/oil

Not readable now, earlier content kept (1)
- Storms (HTTP 503 since {since}; content of {read_at}) {base}/storm

In all
- 6 pages, 13 chunks (+2 −2)
- 20 questions accepted (+3 −3) of 20 proposed (+3 −3)
- cost ${row["cost_usd"]:.4f}: 2 LLM calls in 2 runs, {tokens}
- threshold {threshold}: {passing} of foreign questions pass, {refused} of its own do not
- AUROC of the confidence {bands["auroc"]:.2f}

Fewest accepted questions
- Imprint (none proposed for 1 chunk) {base}/imprint"""
    assert report_text(row) == text
    (post,) = nights.edited.posts
    run = nights.edited.run.run_id
    assert post == f"{text}\n\nrun {run}: {UI}/runs/{run}"
    numbers = {name: nights.edited.told[f"pages/{name}"] for name in ("added", "changed", "gone")}
    assert numbers == {"added": 1, "changed": 1, "gone": 1}
    assert nights.edited.told["pages/unknown"] == 1
    assert nights.edited.told["report"].startswith(f"{KEY}: 1 page added")


def test_what_a_failed_run_read_is_told_by_the_next_publication(nights: Nights) -> None:
    assert not nights.failed.run.success
    assert "change_report" not in metadata(nights.failed.run)
    assert nights.failed.files == nights.edited.files
    (alert,) = nights.failed.posts
    assert alert.startswith(f"ERROR {KEY}: site_refresh failed")
    row = nights.after.reports[-1]
    assert [page["title"] for page in row["changed"]] == ["Mirrors"]
    assert [page["title"] for page in row["recovered"]] == ["Storms"]
    assert (row["added"], row["gone"], row["unknown"]) == ([], [], [])
    assert row["since"] == nights.edited.reports[-1]["reported_at"]
    (post,) = nights.after.posts
    assert post.startswith(f"{KEY}: 1 page changed, 1 readable again\n")


def test_tables_that_are_not_published_are_not_reported(nights: Nights) -> None:
    place = nights.place
    assert place.run("change_report").success
    assert place.run("chunks").success
    alone = place.run("change_report")
    assert not alone.success
    assert f"chunks of site '{KEY}' is newer than what was published" in failure(alone)
