"""What of the browser can be known without one."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.engines.browser_resources import Resources
from qindex_pipeline.crawl.engines.chromium import Chromium
from qindex_pipeline.crawl.engines.crawl4ai_library import (
    AsyncPlaywrightCrawlerStrategy,
    BrowserConfig,
)
from qindex_pipeline.crawl.engines.engine import Engine
from qindex_pipeline.crawl.fetch.http import HttpFetcher
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.result import Request, Result
from qindex_pipeline.errors import WorkError
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Reply, serving

SHELL = Reply(b"<title>T</title><div id=app></div><script src=/app.js></script>")


def launch_arguments(strategy: AsyncPlaywrightCrawlerStrategy) -> dict[str, object]:
    return strategy.browser_manager._build_browser_args()


def test_crawl4ai_still_builds_the_arguments_of_a_launch_where_we_add_to_them(
    tmp_path: Path,
) -> None:
    executable = tmp_path / "chromium"
    executable.touch()
    plain = launch_arguments(AsyncPlaywrightCrawlerStrategy(browser_config=BrowserConfig()))
    ours = launch_arguments(Chromium(str(executable), 1.0))
    assert set(ours) == {*plain, "executable_path", "artifacts_dir"}
    assert ours["executable_path"] == str(executable)


def test_the_browser_has_no_network_of_its_own() -> None:
    arguments = launch_arguments(Chromium(None, 1.0))["args"]
    assert isinstance(arguments, list)
    assert {
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-server=http://127.0.0.1:9",
        "--proxy-bypass-list=<-loopback>",
    } <= set(arguments)


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("https://docs.test/assets/app.js", None),
        ("https://DOCS.test/app.js", None),
        ("https://cdn.test/vue.js", None),
        ("https://api.test:8443/data.json", None),
        ("https://api.test/data.json", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("https://docs.test:8443/app.js", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("https://docs.test@evil.test/app.js", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("https://evildocs.test/app.js", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("file:///etc/passwd", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("data:text/javascript,1", Outcome.OUT_OF_SCOPE_REDIRECT),
        ("https://docs.test/private/app.js", Outcome.ROBOTS_DISALLOWED),
        ("https://docs.test/outside/app.js", None),  # the scope is about pages
    ],
)
def test_a_page_loads_from_the_hosts_of_its_site_alone(url: str, refusal: Outcome | None) -> None:
    def gate(url: str) -> Outcome | None:
        if "/private/" in url:
            return Outcome.ROBOTS_DISALLOWED
        return Outcome.OUT_OF_SCOPE_REDIRECT if "/outside/" in url else None

    site = Site(
        key="x",
        start_url="https://docs.test/",
        allowed_hosts=("api.test:8443",),
        resource_hosts=("cdn.test",),
    )
    assert Resources(HttpFetcher(site, Addresses()), gate, site).refusal(url) is refusal


@pytest.fixture
def no_browsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser of Playwright's; its folder for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


@pytest.mark.parametrize("chromium", [None, "/nowhere/chromium"])
def test_a_browser_that_cannot_start_is_one_line_that_says_what_to_do(
    no_browsers: Path, chromium: str | None
) -> None:
    with serving({"/": SHELL}) as server:
        with pytest.raises(WorkError, match=r"QINDEX_CHROMIUM.*playwright install") as caught:
            get(server.base, "browser", chromium)
        [shell, again] = get(server.base, "auto", chromium)
    assert "\n" not in str(caught.value)
    assert shell.fetch.outcome is again.fetch.outcome is Outcome.JS_REQUIRED
    assert shell.fetch.error == str(caught.value)
    assert list(no_browsers.iterdir()) == []


def test_over_http_a_shell_is_no_page_and_starts_no_browser() -> None:
    with serving({"/": SHELL}) as server:
        shell, again = get(server.base, "http", "/nowhere/chromium")
    assert (shell, again) == (Result(shell.fetch), Result(again.fetch))
    assert shell.fetch.outcome is Outcome.JS_REQUIRED
    assert "render" in (shell.fetch.error or "")


def get(base: str, render: str, chromium: str | None) -> list[Result]:
    """What an engine gets for the start page, asked twice."""
    site = Site.model_validate({"key": "x", "start_url": base, "render": render})

    async def twice() -> list[Result]:
        async with (
            HttpFetcher(site, Addresses()) as fetcher,
            Engine(fetcher, lambda _: None, site, chromium) as engine,
        ):
            return [await engine.get(Request(base + "/")) for _ in range(2)]

    return asyncio.run(twice())
