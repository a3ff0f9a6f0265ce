"""One Chromium process: how it is launched, shows a page, and ends, whatever state it is in."""

import asyncio
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from weakref import WeakSet

from playwright.async_api import BrowserContext, Error, Page, Route

from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.engines.browser_tab import LeftError, Tab
from qindex_pipeline.crawl.engines.crawl4ai_library import (
    AsyncPlaywrightCrawlerStrategy,
    BrowserConfig,
    CrawlerRunConfig,
)
from qindex_pipeline.crawl.engines.crawl4ai_seams import NoLog

CLOSE_SECONDS = 5.0
"""How long a page or a browser may take to close before it is killed."""
_RECYCLE_PAGES = 50  # a context grows with its pages; a new one gives the memory back

_ARGUMENTS = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-sync",
    "--enable-automation",  # else it does not tell its command line, where its profile stands
    # No network at all, also for what no route handler sees (service workers, redirects,
    # prefetches, WebRTC): no name is found, and every request goes to a proxy that is not there.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_current_tab: ContextVar[Tab] = ContextVar("current_tab")


class Chromium(AsyncPlaywrightCrawlerStrategy):
    """One browser process, driven by crawl4ai; a dead one is replaced by another object."""

    def __init__(self, executable: str | None, settle_seconds: float) -> None:
        """Describe the browser; `start` launches it.

        Args:
            executable: The Chromium to launch, None for Playwright's own.
            settle_seconds: How long a page may go on loading before it is read.
        """
        config = BrowserConfig(
            verbose=False,
            user_agent=USER_AGENT,
            memory_saving_mode=True,
            max_pages_before_recycle=_RECYCLE_PAGES,
            extra_args=list(_ARGUMENTS),
        )
        super().__init__(browser_config=config, logger=NoLog())  # pyright: ignore[reportArgumentType]  any AsyncLoggerBase serves
        self._executable, self._settle_seconds = executable, settle_seconds
        self._walled = WeakSet[BrowserContext]()
        self._pid = 0
        self._artifacts: str | None = None
        self._profile: str | None = None
        self.is_killed = False
        manager = self.browser_manager
        # crawl4ai has no option for an executable: its launch arguments get it here.
        build = manager._build_browser_args  # pyright: ignore[reportPrivateUsage]
        manager._build_browser_args = lambda: build() | self._arguments()  # pyright: ignore[reportPrivateUsage]
        self.set_hook("on_page_context_created", self._open)
        self.set_hook("after_goto", self._parse)
        self.set_hook("before_retrieve_html", self._settle)

    @property
    def is_alive(self) -> bool:
        """Whether the browser process answers."""
        browser = self.browser_manager.browser
        return not self.is_killed and browser is not None and browser.is_connected()

    async def start(self) -> None:
        """Launch the browser. Raises playwright's Error, or OSError, when there is none."""
        self._artifacts = tempfile.mkdtemp(prefix="qindex-chromium-")
        await super().start()
        browser = self.browser_manager.browser
        assert browser is not None, "it has been launched"
        session = await browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        self._pid = next(int(found["id"]) for found in processes if found["type"] == "browser")
        arguments = (await session.send("Browser.getBrowserCommandLine"))["arguments"]
        option = "--user-data-dir="
        self._profile = next(text for text in arguments if text.startswith(option))[len(option) :]
        await session.detach()

    async def show(self, url: str, tab: Tab, config: CrawlerRunConfig) -> str:
        """The HTML of a page once its scripts have run. Raises what the driver raises.

        A page that leads elsewhere before it shows anything is read as it was fetched: its
        redirect is not followed, its text and links are there all the same.
        """
        _current_tab.set(tab)
        try:
            return (await super().crawl(url, config)).html
        except LeftError:
            return tab.html
        finally:
            await tab.close()

    async def stop(self) -> None:
        """Close the browser, or kill it when it does not close."""
        if self.is_alive:
            await _within(CLOSE_SECONDS, self.close())
        await self.kill()

    async def kill(self) -> None:
        """Kill the browser's processes at once, end its driver, and remove its files."""
        self.is_killed = True
        _kill_group(self._pid)
        self._pid = 0  # the system may give the number to another process
        await _within(CLOSE_SECONDS, self.close())
        driver = self.browser_manager.playwright
        if driver is not None:  # closing what was dead failed half-way
            await _within(CLOSE_SECONDS, driver.stop())
            self.browser_manager.playwright = None
        # The driver removes a profile only if it outlives the browser for long enough.
        for folder in filter(None, (self._profile, self._artifacts)):
            shutil.rmtree(folder, ignore_errors=True)

    def _arguments(self) -> dict[str, Any]:
        """What crawl4ai's arguments of the launch lack; called when playwright has started."""
        path = self._executable
        if path is None and self.browser_manager.playwright is not None:
            path = self.browser_manager.playwright.chromium.executable_path
            if any(Path(path).parents[2].glob("chromium*")):  # it knows best which one to take
                return {"artifacts_dir": self._artifacts}
        if path is not None and not Path(path).is_file():
            # Playwright would find that out too, and leave a profile behind.
            raise FileNotFoundError(f"{path} does not exist")
        return {"artifacts_dir": self._artifacts, "executable_path": path}

    async def _open(self, page: Page, context: BrowserContext, **_: Any) -> Page:
        # Requests that belong to no page of ours, for one that of a popup, are none of ours.
        if context not in self._walled:
            self._walled.add(context)
            await context.route("**/*", _abort)
        await _current_tab.get().open(page)
        return page

    async def _parse(self, page: Page, **_: Any) -> Page:
        await _current_tab.get().parsed()
        return page

    async def _settle(self, page: Page, **_: Any) -> Page:
        await _current_tab.get().settled(self._settle_seconds)
        return page


def _kill_group(pid: int) -> None:
    """Kill a browser with all its processes: playwright starts it as the leader of a group."""
    with suppress(ProcessLookupError):
        if pid and os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)


async def _within(seconds: float, work: Any) -> None:
    """Await what may hang, or fail because the browser is dead already."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        task.cancel()
    elif not task.cancelled():
        task.exception()


async def _abort(route: Route) -> None:
    with suppress(Error):
        await route.abort()
