"""`qindex doctor` on sites: what would stop their crawls is said before one begins."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline_tests import command


@pytest.fixture
def doctor(tmp_path: Path):
    return partial(command.qindex, tmp_path, "doctor", QINDEX_PROFILE="offline", COLUMNS="300")


def write_sites(folder: Path, **sites: dict[str, Any]) -> None:
    (folder / "sites.yaml").write_text(json.dumps({"sites": sites}))


def trouble(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if "MEND" in line]


def test_every_option_that_would_stop_a_crawl_is_named_with_its_site(doctor, tmp_path: Path):
    start = {"start_url": "http://lantern.dev/"}
    write_sites(
        tmp_path,
        token={**start, "headers_from_env": {"Authorization": "NO_SUCH_TOKEN"}},
        cookie={**start, "cookies_from_env": "NO_SUCH_COOKIE"},
        password={**start, "basic_auth_from_env": "NO_SUCH_PASSWORD"},
        content={**start, "content_selector": "main["},
        noise={**start, "drop_selectors": [".survey", "p::"]},
        nowhere={"folder": "nowhere"},
        asked={**start, "eval_questions": "nowhere.jsonl"},
        rendered={**start, "render": "auto"},
        good={**start, "cookies_from_env": "LANTERN_COOKIE", "content_selector": "main > div"},
    )
    done = doctor(QINDEX_CHROMIUM=str(tmp_path / "no-chromium"), LANTERN_COOKIE="a=1")
    assert done.returncode == 1
    expected = [
        ("token", "NO_SUCH_TOKEN is not set"),
        ("cookie", "NO_SUCH_COOKIE is not set"),
        ("password", "NO_SUCH_PASSWORD is not set"),
        ("content", "content_selector: 'main['"),
        ("noise", "drop_selectors: 'p::'"),
        ("nowhere", "does not exist"),
        ("asked", "eval_questions: "),
        ("rendered", "no-chromium is no program"),
    ]
    lines = trouble(done.stdout)
    assert len(lines) == len(expected), done.stdout
    for line, (site, text) in zip(lines, expected, strict=True):
        assert site in line
        assert text in line


def test_a_browser_that_is_there_is_named_and_not_started(doctor, tmp_path: Path):
    write_sites(tmp_path, lantern={"start_url": "http://lantern.dev/", "render": "browser"})
    chromium, started = tmp_path / "chromium", tmp_path / "started"
    chromium.write_text(f"#!/bin/sh\ntouch {started}\n")
    chromium.chmod(0o755)
    done = doctor(QINDEX_CHROMIUM=str(chromium))
    assert done.returncode == 0, done.stdout
    assert f"{chromium} (for lantern)" in done.stdout
    assert not started.exists()


def test_without_a_named_browser_playwrights_own_is_looked_for(doctor, tmp_path: Path):
    write_sites(tmp_path, lantern={"start_url": "http://lantern.dev/", "render": "auto"})
    done = doctor(PLAYWRIGHT_BROWSERS_PATH=str(tmp_path / "browsers"))
    assert done.returncode == 1
    (line,) = trouble(done.stdout)
    assert str(tmp_path / "browsers") in line
    assert "playwright install chromium" in line


def test_a_site_that_is_fetched_over_http_needs_no_browser(doctor, tmp_path: Path):
    write_sites(tmp_path, lantern={"start_url": "http://lantern.dev/"})
    done = doctor(PLAYWRIGHT_BROWSERS_PATH=str(tmp_path / "browsers"))
    assert done.returncode == 0, done.stdout
    assert "browser" not in done.stdout.replace(str(tmp_path), "")


def test_files_of_peoples_questions_that_are_malformed_or_of_no_site_are_named(
    doctor, tmp_path: Path
):
    write_sites(tmp_path, good={"start_url": "http://a.dev/"}, wrong={"start_url": "http://b.dev/"})
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "good.yaml").write_text("pages: {/a: {pin: [How?]}}")
    (folder / "wrong.yaml").write_text("pages: {/a: {pin: How?}}")
    (folder / "gone.yaml").write_text("pages: {}")
    done = doctor()
    assert done.returncode == 1
    wrong, gone = trouble(done.stdout)
    assert "questions/wrong.yaml: page '/a': pin: Input should be a valid list" in wrong
    assert "questions/gone.yaml belongs to no site of sites.yaml" in gone


def test_a_malformed_sites_file_makes_no_orphans(doctor, tmp_path: Path):
    (tmp_path / "sites.yaml").write_text("sites: [a]")
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "a.yaml").write_text("pages: {}")
    (line,) = trouble(doctor().stdout)
    assert "sites file" in line


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"QINDEX_PRICES": "gpt=1"}, "QINDEX_PRICES: 'gpt=1' is no price"),
        ({"QINDEX_MAX_COST_USD": "1"}, "the price of openai:mine is not known"),
    ],
)
def test_prices_that_would_stop_a_run_are_said(doctor, variables: dict[str, str], expected: str):
    (line,) = trouble(
        doctor(QINDEX_GENERATOR="openai:mine", OPENAI_API_KEY="sk-1", **variables).stdout
    )
    assert expected in line
