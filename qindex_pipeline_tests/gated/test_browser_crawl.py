"""Pages in headless Chromium, against servers on loopback.

Runs where Chromium is: /usr/bin/chromium, or the path in QINDEX_CHROMIUM.
"""

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.crawl import CrawlSettings, crawl
from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.engines.browser_tab import Tab
from qindex_pipeline.crawl.engines.engine import Engine
from qindex_pipeline.crawl.fetch.http import HttpFetcher
from qindex_pipeline.crawl.folder import served
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.result import Known, Request, Result, Validators
from qindex_pipeline.ids import content_hash
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Asked, Reply, Server, page, redirect, serving
from qindex_pipeline_tests.gated.chromium import CHROMIUM, NEEDS_CHROMIUM

pytestmark = NEEDS_CHROMIUM

SCRIPT = {"Content-Type": "text/javascript"}
STYLE = {"Content-Type": "text/css"}
JSON = {"Content-Type": "application/json"}
TEXT = "The answer stands in data that only a script fetches and shows to the readers."
APP = b"""
fetch('/data.json').then(reply => reply.json()).then(data => {
  document.getElementById('app').innerHTML =
    '<main><h1>' + data.title + '</h1><p>' + data.text + '</p></main>';
});
"""
SHELL = (
    b"<!doctype html><html lang=en><head><title>Shell</title><link rel=stylesheet href=/app.css>"
    b"</head><body><div id=app></div><script type=module src=/app.js></script></body></html>"
)
DATA = Reply(json.dumps({"title": "Filled page", "text": TEXT}).encode(), headers=JSON)
APPLICATION = {
    "/app": Reply(SHELL),
    "/app.js": Reply(APP, headers=SCRIPT),
    "/app.css": Reply(b"body { color: black }", headers=STYLE),
    "/data.json": DATA,
}


class Chromium:
    """A Chromium for one test, which notes the processes that it starts as."""

    def __init__(self, folder: Path) -> None:
        self._pids = folder / "pids"
        self.path = folder / "chromium"
        self.path.write_text(f'#!/bin/sh\necho $$ >> {self._pids}\nexec {CHROMIUM} "$@"\n')
        self.path.chmod(0o755)

    @property
    def starts(self) -> list[int]:
        return [int(pid) for pid in self._pids.read_text().split()] if self._pids.exists() else []

    def processes(self, kind: str = "") -> list[int]:
        """The processes of its browsers, each the leader of a group; `kind`: of that type."""
        starts = {str(pid) for pid in self.starts}
        return [pid for pid, stat, line in running() if stat[2] in starts and kind in line]


def running() -> Iterator[tuple[int, list[str], str]]:
    """Process id, the fields of its stat from the state on, and its command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
            if stat[0] != "Z":
                yield int(folder.name), stat, line


def drivers() -> list[int]:
    own = str(os.getpid())
    return [pid for pid, stat, line in running() if stat[1] == own and "run-driver" in line]


@pytest.fixture(autouse=True)
def chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chromium]:
    """The test's browser; after the test no process of it is left, and no profile."""
    # Chromium puts a socket there, whose path may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="q") as temporary:
        monkeypatch.setenv("TMPDIR", temporary)
        browser = Chromium(tmp_path)
        yield browser
        assert browser.processes() == []
        assert drivers() == []
        assert list(Path(temporary).glob("playwright*")) == []


def get(
    chromium: Chromium, server: Server, *requests: Request | str, **options: object
) -> list[Result]:
    """What an engine for the server gets, one after the other unless `together`."""
    together = options.pop("together", False)
    site = Site.model_validate({"key": "x", "start_url": server.base, "retries": 0} | options)
    asked = [Request(server.base + item) if isinstance(item, str) else item for item in requests]

    async def everything() -> list[Result]:
        async with (
            HttpFetcher(site, Addresses()) as fetcher,
            Engine(fetcher, scope(server), site, str(chromium.path)) as engine,
        ):
            if together:
                return list(await asyncio.gather(*map(engine.get, asked)))
            return [await engine.get(request) for request in asked]

    return asyncio.run(everything())


def scope(server: Server) -> Callable[[str], Outcome | None]:
    def gate(url: str) -> Outcome | None:
        if not url.startswith(server.base + "/"):
            return Outcome.OUT_OF_SCOPE_REDIRECT
        return Outcome.ROBOTS_DISALLOWED if "/private/" in url else None

    return gate


def text_of(result: Result) -> str:
    return result.extraction.markdown if result.extraction is not None else ""


def test_a_page_that_only_javascript_fills_is_read_in_the_browser(chromium: Chromium) -> None:
    routes = {**APPLICATION, "/plain": page("plain page"), "/none": Reply(b"", 404)}
    with serving(routes) as server:
        filled, plain, none = get(chromium, server, "/app", "/plain", "/none", render="browser")
        asked = dict(server.asked)
    assert TEXT in text_of(filled)
    assert filled.extraction is not None
    assert filled.extraction.h1 == "Filled page"
    assert (filled.fetch.outcome, filled.fetch.status, filled.fetch.mode) == ("ok", 200, "browser")
    assert filled.html is not None
    assert TEXT in filled.html
    assert "This is the text of plain page" in text_of(plain)
    assert (none.fetch.outcome, none.fetch.status) == (Outcome.HTTP_404, 404)
    assert asked == {
        **dict.fromkeys(("/app", "/app.js", "/app.css", "/data.json"), 1),
        "/plain": 1,
        "/none": 1,
    }
    assert {agent.split("/")[0] for agent in server.agents} == {"QIndexBot"}


def test_auto_takes_the_browser_for_what_needs_it_and_asks_the_page_once(
    chromium: Chromium,
) -> None:
    with serving({**APPLICATION, "/plain": page("plain page")}) as server:
        filled, plain = get(chromium, server, "/app", "/plain", render="auto")
        asked = dict(server.asked)
    assert TEXT in text_of(filled)
    assert [result.fetch.mode for result in (filled, plain)] == ["browser", "http"]
    assert asked["/app"] == asked["/plain"] == 1


def test_auto_shows_a_fifth_of_the_pages_and_five_at_least(chromium: Chromium) -> None:
    routes = APPLICATION | {f"/{n}": Reply(SHELL) for n in range(6)}
    with serving(routes) as server:
        results = get(chromium, server, *(f"/{n}" for n in range(6)), render="auto", max_pages=10)
    assert [result.fetch.outcome for result in results] == ["ok"] * 5 + ["js_required"]
    assert "more pages need JavaScript" in (results[-1].fetch.error or "")


def test_a_page_that_renders_the_same_is_not_modified(chromium: Chromium) -> None:
    with serving(APPLICATION) as server:
        [first] = get(chromium, server, "/app", render="browser")
        assert first.html is not None
        known = Known(Validators(), content_hash(first.html), True, lambda: first.html)
        again = Request(server.base + "/app", known)
        [same] = get(chromium, server, again, render="browser")
        server.routes["/data.json"] = Reply(b'{"title": "New", "text": "other data now"}')
        [changed] = get(chromium, server, again, render="browser")
    assert (same.fetch.outcome, same.extraction) == (Outcome.NOT_MODIFIED, None)
    assert changed.fetch.outcome is Outcome.OK
    assert "other data now" in text_of(changed)


def test_nothing_that_a_page_does_reaches_another_host(chromium: Chromium) -> None:
    foreign = {"/x.js": Reply(b"document.title = 'taken'", headers=SCRIPT)}
    with serving(foreign, host="127.0.0.2") as other, serving({}) as server:
        there = other.base
        html = f"""<!doctype html><head><title>Kept</title>
        <link rel=stylesheet href={there}/x.css><link rel=prefetch href={there}/prefetch>
        <style>@import url({there}/import.css); h1 {{ background: url({there}/b.png) }}</style>
        <script src={there}/x.js></script><script src=/moved.js></script>
        <meta http-equiv=refresh content="1;url={there}/refresh"></head><body>
        <main><h1>Page</h1><p>Words for the readers of it.</p><p id=out></p></main>
        <img src={there}/i.png><img src=/own.png><iframe src={there}/frame></iframe>
        <iframe src=/own-frame></iframe><iframe src=/moved-frame></iframe>
        <form id=form method=post action={there}/post></form>
        <script>
        for (const path of ['{there}/fetch', '/moved.json', '/private/a.json', '/gone.json'])
          fetch(path).catch(() => 0).then(() => document.getElementById('out').append('.'));
        fetch('/posted', {{method: 'POST', body: 'x'}}).catch(() => 0);
        navigator.sendBeacon('{there}/beacon', 'x');
        new EventSource('{there}/events');
        new WebSocket('{there}/socket'.replace('http', 'ws'));
        navigator.serviceWorker.register('/worker.js').catch(() => 0);
        window.open('{there}/popup');
        window.open('/own-popup');
        new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.2:3478'}}]}}).createOffer();
        setTimeout(() => document.getElementById('form').submit(), 100);
        setTimeout(() => {{ location.href = '{there}/left'; }}, 200);
        setTimeout(() => {{ location.href = '/moved-page'; }}, 300);
        </script></body>"""
        server.routes |= {
            "/": Reply(html.encode()),
            "/moved.js": redirect(f"{there}/x.js"),
            "/moved.json": redirect(f"{there}/x.js"),
            "/moved-page": redirect(f"{there}/x.js"),
            "/moved-frame": redirect(f"{there}/x.js"),
            "/out": redirect(f"{there}/x.js"),
        }
        result, out = get(chromium, server, "/", "/out", render="browser")
        asked = dict(server.asked)
        assert dict(other.asked) == {}
    assert result.fetch.outcome is Outcome.OK
    assert "Words for the readers of it." in text_of(result)
    assert "...." in text_of(result)
    assert result.extraction is not None
    assert result.extraction.head.title == "Kept"
    assert out.fetch.outcome is Outcome.OUT_OF_SCOPE_REDIRECT
    assert asked == dict.fromkeys(("/", "/moved.js", "/moved.json", "/gone.json", "/out"), 1)


def test_a_browser_whose_requests_nobody_answers_reaches_no_server(
    chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def let_through(self: object, route: Any) -> None:
        await route.continue_()

    monkeypatch.setattr(Tab, "_answer", let_through)
    with serving(APPLICATION) as server:
        [result] = get(chromium, server, "/app", render="browser", timeout=10)
        assert dict(server.asked) == {"/app": 1}
    assert result.extraction is None


def test_scripts_may_come_from_a_resource_host_and_are_fetched_once(chromium: Chromium) -> None:
    with serving({"/app.js": Reply(APP, headers=SCRIPT)}, host="127.0.0.2") as other:
        shell = SHELL.replace(b"/app.js", f"{other.base}/app.js".encode())
        with serving(APPLICATION | {"/a": Reply(shell), "/b": Reply(shell)}) as server:
            hosts = [other.base.removeprefix("http://")]
            results = get(
                chromium,
                server,
                "/a",
                "/b",
                render="browser",
                resource_hosts=hosts,
                together=True,
            )
        assert dict(other.asked) == {"/app.js": 1}
    assert all(TEXT in text_of(result) for result in results)


def test_a_page_that_never_stops_loading_is_read_with_what_it_has(chromium: Chromium) -> None:
    polling = b"<script>setInterval(() => fetch('/data.json'), 50)</script>"
    with serving({**APPLICATION, "/poll": Reply(page("polling page").body + polling)}) as server:
        polled, filled = get(chromium, server, "/poll", "/app", render="browser", timeout=6)
        asked = server.asked["/data.json"]
    assert "This is the text of polling page" in text_of(polled)
    assert TEXT in text_of(filled)
    assert 1 < asked <= 201


@pytest.mark.parametrize("where", ["head", "foot"])
def test_a_page_that_leads_elsewhere_stays(chromium: Chromium, where: str) -> None:
    detour = "<script>location.replace('/elsewhere'); location.href = 'mailto:x@y.z';</script>"
    shown = page("kept page", head=detour if where == "head" else "").body.decode()
    if where == "foot":
        shown += detour
    with serving({"/": Reply(shown.encode()), "/elsewhere": page("elsewhere")}) as server:
        [result] = get(chromium, server, "/", render="browser", timeout=10)
        assert dict(server.asked) == {"/": 1}
    assert "This is the text of kept page" in text_of(result)


@pytest.mark.parametrize(
    "script",
    [
        "while (true) {}",
        "document.addEventListener('DOMContentLoaded', () => setTimeout(() => { while (1) {} }))",
    ],
)
def test_a_page_that_hangs_costs_only_itself(chromium: Chromium, script: str) -> None:
    hanging = Reply(page("busy").body + f"<script>{script}</script>".encode())
    with serving({**APPLICATION, "/busy": hanging, "/plain": page("plain")}) as server:
        busy, *fine = get(
            chromium,
            server,
            "/busy",
            "/app",
            "/plain",
            "/app",
            render="browser",
            timeout=4,
            together=True,
        )
    assert busy.fetch.outcome is Outcome.BROWSER_TIMEOUT
    assert busy.fetch.error == "the page was not shown within 4 s"
    assert busy.extraction is None
    assert [result.fetch.outcome for result in fine] == ["ok"] * 3


def killing(chromium: Chromium, kind: str = "", times: int = 1) -> Callable[[Asked], Reply]:
    """A route that kills the browser's processes of a kind the first `times` it is asked."""

    def route(asked: Asked) -> Reply:
        for process in chromium.processes(kind) if asked.count <= times else ():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return DATA

    return route


def deadly() -> Reply:
    return Reply(page("deadly").body + b"<script>fetch('/kill')</script>")


def test_a_page_that_crashes_its_renderer_costs_only_itself(chromium: Chromium) -> None:
    kill = killing(chromium, "--type=renderer", times=9)
    routes = {**APPLICATION, "/die": deadly(), "/kill": kill}
    with serving(routes) as server:
        died, filled = get(chromium, server, "/die", "/app", render="browser", timeout=20)
    assert died.fetch.outcome is Outcome.BROWSER_CRASHED
    assert died.extraction is None
    assert TEXT in text_of(filled)


def test_pages_of_a_browser_that_dies_are_shown_in_the_next_one(chromium: Chromium) -> None:
    routes = {**APPLICATION, "/die": deadly(), "/kill": killing(chromium)}
    with serving(routes) as server:
        results = get(chromium, server, "/die", "/app", render="browser", timeout=20, together=True)
    assert [result.fetch.outcome for result in results] == ["ok", "ok"]
    assert len(chromium.starts) == 2


@pytest.mark.parametrize("base_url", ["https://docs.test/", "http://docs.test/"])
def test_a_folder_is_shown_under_its_public_address(
    chromium: Chromium, tmp_path: Path, base_url: str
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for path, reply in APPLICATION.items():
        name = "index.html" if path == "/app" else path[1:]
        (folder / name).write_bytes(reply.body)
    link = APP.replace(b"</main>", b"<a href=more.html>at ' + location.href + '</a></main>")
    (folder / "app.js").write_bytes(link)
    site = Site(key="docs.test", folder=folder, base_url=base_url, render="browser")

    async def shown() -> Result:
        with served(folder) as local:
            addresses = Addresses(site.public_url, local)
            async with (
                HttpFetcher(site, addresses) as fetcher,
                Engine(fetcher, lambda _: None, site, str(chromium.path)) as engine,
            ):
                return await engine.get(Request(site.public_url))

    result = asyncio.run(shown())
    assert TEXT in text_of(result)
    assert f"at {base_url}" in text_of(result)
    assert result.extraction is not None
    assert result.extraction.head.links == (f"{base_url}more.html",)


def test_a_crawl_follows_the_links_that_scripts_write(chromium: Chromium) -> None:
    link = APP.replace(b"</main>", b'<a href="/linked">more</a></main>')
    routes = {**APPLICATION, "/app.js": Reply(link, headers=SCRIPT), "/linked": page("linked")}
    with serving(routes) as server:
        site = Site(key="x", start_url=server.base + "/app", render="auto")
        found = crawl(site, settings=CrawlSettings(chromium=str(chromium.path)))
    pages = {row.url.removeprefix(server.base): row for row in found.found.pages}
    assert {path: (str(row.outcome), row.fetch_mode) for path, row in pages.items()} == {
        "/app": ("ok", "browser"),
        "/linked": ("ok", "http"),
    }
    assert TEXT in (pages["/app"].markdown or "")
