"""Dagster's UI as `make dev` starts it, driven in headless Chromium.

Runs where Chromium is: /usr/bin/chromium, or the path in QINDEX_CHROMIUM. The screenshots go to
the folder that QINDEX_SCREENSHOTS names, else to the test's own.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from qindex_pipeline.query import QIndex
from qindex_pipeline_tests.dagster_process import (
    ASSETS,
    PROJECT,
    SITES,
    Webserver,
    Workplace,
    wait_until,
    webserver,
    workplace,
)
from qindex_pipeline_tests.gated.chromium import CHROMIUM, NEEDS_CHROMIUM

pytestmark = NEEDS_CHROMIUM

ARGUMENTS = [
    "--no-sandbox",  # root in a container has no user namespace to put the sandbox in
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = ViewportSize(width=3600, height=2200)
"""In less the graph of all assets fits by shortening their names, or not at all."""

PAGE_MILLISECONDS = 120_000
BACKFILL_SECONDS = 600.0
"""Two runs side by side take 50 to 80 s on two cores that do other work too."""


@contextmanager
def chromium() -> Generator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, timeout=PAGE_MILLISECONDS
        )
        try:
            page = browser.new_page(viewport=WIDE)
            page.set_default_timeout(PAGE_MILLISECONDS)
            expect.set_options(timeout=PAGE_MILLISECONDS)
            yield page
        finally:
            browser.close()


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """Two sites, and the home that `make dev` sets up."""
    made = workplace(tmp_path)
    home = Path(made.environment()["DAGSTER_HOME"])
    shutil.copy(PROJECT / "deploy" / "local" / "dagster.yaml", home)
    return made


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("QINDEX_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def open_graph(page: Page, server: Webserver) -> None:
    """The lineage of all assets, with every group opened and every asset in view."""
    page.goto(f"{server.url}/asset-groups")
    group = page.locator("foreignObject").filter(has_text="crawl").first
    expect(group).to_be_visible()
    page.keyboard.press("Alt+KeyE")  # "Expand all groups" of the graph's menu
    for name in ASSETS:
        node = page.locator("foreignObject").get_by_text(name, exact=True)
        expect(node).to_be_in_viewport()


def launch_backfill_of_everything(page: Page) -> None:
    page.get_by_role("button", name="Materialize all").click()
    title = page.get_by_text(f"Launch runs to materialize {len(ASSETS)} assets")
    expect(title).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("button", name="Launch backfill").click()
    expect(title).to_be_hidden()


def finished_backfill(server: Webserver) -> dict[str, Any] | None:
    """The one backfill when it has ended, whichever way."""
    found = server.ask(
        "{ partitionBackfillsOrError { ... on PartitionBackfills { results {"
        " id status partitionNames } } } }"
    )["partitionBackfillsOrError"]["results"]
    running = {"REQUESTED", "COMPLETING", "CANCELING", "FAILING"}
    return found[0] if found and found[0]["status"] not in running else None


def runs(server: Webserver) -> list[tuple[str, str]]:
    """Partition and status of every run."""
    found = server.ask("{ runsOrError { ... on Runs { results { status tags { key value } } } } }")[
        "runsOrError"
    ]["results"]
    return [
        (tag["value"], run["status"])
        for run in found
        for tag in run["tags"]
        if tag["key"] == "dagster/partition"
    ]


def open_backfill(page: Page, server: Webserver, backfill: str) -> None:
    """From the list of runs to the backfill, with all of its assets completed."""
    page.goto(f"{server.url}/runs")
    page.get_by_text(backfill).click()
    page.wait_for_url(f"**/runs/b/{backfill}**")
    for name in ASSETS:
        expect(page.locator(f'a[href="/assets/{name}"]')).to_be_in_viewport()
    expect(page.get_by_text("100% completed")).to_have_count(len(ASSETS))
    expect(page.get_by_text("Succeeded").first).to_be_visible()


def test_the_graph_shows_and_a_backfill_of_both_sites_succeeds(
    place: Workplace, screenshots: Path
) -> None:
    with webserver(place, "dagster", "dev") as server, chromium() as page:
        server.ask("mutation { setNuxSeen }")  # else an invitation to a newsletter covers the UI
        open_graph(page, server)
        page.screenshot(path=screenshots / "ui-asset-graph.png")

        launch_backfill_of_everything(page)
        backfill = wait_until(lambda: finished_backfill(server), BACKFILL_SECONDS, "backfilled")
        assert backfill["status"] == "COMPLETED_SUCCESS"
        assert sorted(backfill["partitionNames"]) == sorted(SITES)
        assert sorted(runs(server)) == [(site, "SUCCESS") for site in sorted(SITES)]

        open_backfill(page, server, backfill["id"])
        page.screenshot(path=screenshots / "ui-backfill.png")

    with mock.patch.dict(os.environ, place.environment(), clear=True):
        index = QIndex.from_env()
    for site in SITES:
        answer = index.ask(f"How do I install {site.upper()}?", site=site)
        assert answer.results[0].url == f"http://{site}/install.html"
