"""`qindex plan`: what a run would do, said without fetching a page or writing a file."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.plan import plan_sites
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import RAW_PAGES
from qindex_pipeline_tests import command
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.crawl.hostile import (
    Reply,
    Server,
    conditional,
    page,
    serving,
    whole_crawl,
)

XML = {"Content-Type": "application/xml"}


@pytest.fixture
def qindex(tmp_path: Path):
    return partial(command.qindex, tmp_path)


def write_sites(folder: Path, **sites: dict[str, Any]) -> None:
    (folder / "sites.yaml").write_text(json.dumps({"sites": sites}))


def sitemap(server: Server, *paths: str) -> Reply:
    urls = "".join(f"<url><loc>{server.base}{path}</loc></url>" for path in paths)
    return Reply(f"<urlset>{urls}</urlset>".encode(), headers=XML)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_plan_of_a_known_site_lists_start_known_and_new_urls_and_fetches_none(
    qindex, tmp_path: Path
):
    routes = {
        "/": page("start", "/a", "/b"),
        "/a": conditional(page("lamp a")),
        "/b": page("lamp b"),
        "/robots.txt": Reply(b"User-agent: *\nCrawl-delay: 0.2\nDisallow: /private"),
    }
    with serving(routes) as server:
        last = whole_crawl(server).settled.pages
        store = ParquetStore(str(tmp_path / "data"))
        store.write(RAW_PAGES, "docs", last)
        server.routes["/sitemap.xml"] = sitemap(server, "/a", "/new", "/private/x", "/b.zip")
        server.routes["/robots.txt"] = Reply(
            f"Sitemap: {server.base}/sitemap.xml\n".encode() + routes["/robots.txt"].body
        )
        write_sites(tmp_path, docs={"start_url": server.base + "/", "max_pages": 10})
        before = files(tmp_path)
        server.forget()
        done = qindex("plan", "--site", "docs", "--json", "--urls")
        assert done.returncode == 0, done.stderr
        assert set(server.asked) == {"/robots.txt", "/sitemap.xml"}
        shown = qindex("plan", "--urls")
    assert files(tmp_path) == before
    (plan,) = json.loads(done.stdout)["sites"]
    urls, questions, embeddings = (plan.pop(key) for key in ("urls", "questions", "embeddings"))
    assert [(item["url"].removeprefix(server.base), item["why"]) for item in urls] == [
        ("/", "start"), ("/a", "known"), ("/b", "known"), ("/new", "sitemap"),
    ]  # fmt: skip
    assert [item["conditional"] for item in urls] == [False, True, False, False]
    assert plan == {
        "site": "docs",
        "start_url": server.base + "/",
        "render": "http",
        "max_pages": 10,
        "request_budget": 80,
        "problem": None,
        "robots": "open",
        "crawl_delay": 0.2,
        "interval_seconds": 0.2,
        "least_seconds": 1.8,
        "in_sitemap": 3,
        "known": 3,
        "conditional": 1,
        "new": 2,
        "forbidden": 1,
        "notes": [],
        "further_pages": [4, 4],  # the known ones too: the last run did not cut them
    }
    assert (questions["generator"], questions["most"]["calls"]) == ("rules", 0)
    assert (questions["chunks"], questions["chunks_a_page"]) == (0, [1, 35])
    assert (embeddings["embedder"], embeddings["texts"]) == ("minilm", 0)
    assert embeddings["least"]["texts"] == 4
    assert "open, Crawl-delay 0.2 s, forbids 1 of these URLs" in shown.stdout
    lines = shown.stdout.splitlines()[-4:]
    assert [line.split()[-1].removeprefix(server.base) for line in lines] == [
        "/", "/a", "/b", "/new",
    ]  # fmt: skip
    assert lines[1].startswith("known, if changed ")


def test_a_site_that_cannot_be_read_is_said_to_and_the_others_are_shown(qindex, tmp_path: Path):
    folder = command.write_site(tmp_path / "lantern", index="<h1>Lantern</h1>")
    closed = {"/robots.txt": Reply(b"User-agent: *\nDisallow: /")}
    with serving(closed) as forbidding, serving({"/robots.txt": Reply(b"", 503)}) as failing:
        write_sites(
            tmp_path,
            down={"start_url": command.CLOSED + "/"},
            closed={"start_url": forbidding.base + "/"},
            failing={"start_url": failing.base + "/"},
            private={"start_url": command.CLOSED + "/", "cookies_from_env": "NO_SUCH_COOKIE"},
            nowhere={"folder": "nowhere"},
            lantern={"folder": str(folder)},
        )
        done = qindex("plan", "--json")
        shown = qindex("plan")
    assert done.returncode == shown.returncode == 1
    assert done.stderr.splitlines() == [
        "qindex: a run would fail for down, closed, failing, private, nowhere: see the plan"
    ]
    plans = {plan["site"]: plan for plan in json.loads(done.stdout)["sites"]}
    problems = {
        "down": "refuses the connection",
        "closed": "forbidden by the site's robots.txt",
        "failing": "robots.txt answered HTTP 503",
        "private": "NO_SUCH_COOKIE is not set",
        "nowhere": "does not exist",
    }
    for key, expected in problems.items():
        assert expected in plans[key]["problem"], key
    assert plans["lantern"]["problem"] is None
    assert plans["closed"]["robots"] == "forbids the start page"
    assert plans["down"]["robots"] == plans["failing"]["robots"] == "unreachable"
    assert plans["lantern"]["robots"] == "not asked"
    assert "urls" not in plans["lantern"]
    assert [key for key, plan in plans.items() if plan["questions"]] == ["lantern"]
    assert all(key in shown.stdout for key in plans)


def test_an_unknown_site_is_a_wrong_call(qindex, tmp_path: Path):
    write_sites(tmp_path, docs={"start_url": command.CLOSED + "/"})
    done = qindex("plan", "--site", "dosc")
    assert done.returncode == 2
    assert "has no site 'dosc'" in done.stderr
    assert done.stdout == ""


def test_a_file_without_sites_has_an_empty_plan(qindex):
    done = qindex("plan", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"sites": []}
    assert "`qindex ingest URL` adds one" in done.stderr


def test_a_model_that_cannot_be_asked_is_a_problem_of_the_run(
    settings: MakeSettings, tmp_path: Path
):
    site = Site(key="lantern", folder=command.write_site(tmp_path / "site", index="<h1>Lamp</h1>"))
    tools = Pipeline(settings(QINDEX_PROFILE="api"), {site.key: site})
    (plan,) = plan_sites(tools, [site])
    assert "ANTHROPIC_API_KEY is not set" in (plan.problem or "")
    assert (plan.questions, plan.further_pages) == (None, (1, 1))
