"""What one page in the browser may load: nothing but what the fetcher fetches for it.

The browser itself has no network. Each request of a page is answered here, so that robots.txt,
redirects, private addresses, credentials, pace and size limits are those of every other fetch.
"""

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import Error, Page, Request, Route, WebSocketRoute

from qindex_pipeline.crawl.engines.browser_resources import Resources
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome

_LOADED = frozenset({"script", "stylesheet", "xhr", "fetch"})
"""Kinds of requests that can change a page's text. Images, media, fonts, frames cannot."""
_MAX_REQUESTS = 200  # of one page: enough for any bundle, an end to endless polling
_QUIET_SECONDS = 0.5
_POLL_SECONDS = 0.05


class LeftError(Exception):
    """A page led elsewhere before it showed anything."""


class Tab:
    """One page in the browser: it answers the page's requests and knows when it has settled."""

    def __init__(self, html: str, resources: Resources) -> None:
        """Show `html`, which the fetcher has fetched already."""
        self.html, self._resources = html, resources
        self._page: Page | None = None
        self._is_shown = False
        self._requests = self._loading = 0
        self._active_at = 0.0
        self.crashed = asyncio.Event()

    async def open(self, page: Page) -> None:
        """Take over the requests of a new page."""
        self._page = page
        self._active_at = _now()
        page.on("crash", lambda _: self.crashed.set())
        page.on("popup", _close_popup)
        page.on("dialog", _dismiss_dialog)
        await page.route("**/*", self._answer)
        await page.route_web_socket("**/*", _refuse_web_socket)

    async def parsed(self) -> None:
        """Wait until the page has a body.

        Raises LeftError when it gets none: a script in its head leads elsewhere, which is not
        answered, and the browser has stopped reading the page.
        """
        assert self._page is not None, "the tab has a page"
        while not await self._page.evaluate("document.body !== null"):
            if self._is_quiet():
                raise LeftError
            await asyncio.sleep(_POLL_SECONDS)

    async def settled(self, seconds: float) -> None:
        """Wait until nothing has loaded for half a second, at most `seconds`.

        Raises Error when the browser shows an error page of its own instead of the page.
        """
        assert self._page is not None, "the tab has a page"
        end = _now() + seconds
        while True:
            while not self._is_quiet() and _now() < end:
                await asyncio.sleep(_POLL_SECONDS)
            # Answered when no script is busy; the one that was may have begun to load.
            if await self._page.evaluate("location.protocol") == "chrome-error:":
                raise Error("the browser shows an error page of its own")
            if self._is_quiet() or _now() >= end:
                return

    def _is_quiet(self) -> bool:
        return not self._loading and _now() - self._active_at >= _QUIET_SECONDS

    async def close(self) -> None:
        """Close the page, whose scripts would run on otherwise; a dead page is closed."""
        if self._page is not None:
            with suppress(Error):
                await self._page.close()

    async def _answer(self, route: Route) -> None:
        # The page may be gone by the time its request is answered.
        with suppress(Error):
            if self._is_document(route.request):
                self._is_shown = True
                await route.fulfill(body=self.html, content_type="text/html; charset=utf-8")
            elif self._may_load(route.request):
                await self._load(route)
            elif route.request.is_navigation_request():
                # Any other error would replace the page by one of the browser's own.
                await route.abort("aborted")
            else:
                await route.abort()

    def _is_document(self, request: Request) -> bool:
        """Whether this is the page itself: the first navigation, not a frame, not a detour."""
        if self._is_shown or self._page is None or not request.is_navigation_request():
            return False
        return request.frame == self._page.main_frame

    def _may_load(self, request: Request) -> bool:
        """Whether this can add to the text; a crawler sends nothing, so it must be a GET."""
        self._requests += 1
        is_get = request.method == "GET"
        return is_get and request.resource_type in _LOADED and self._requests <= _MAX_REQUESTS

    async def _load(self, route: Route) -> None:
        request = route.request
        self._loading += 1
        try:
            document = await self._resources.load(_bare(request.url), request.resource_type)
        finally:
            self._loading -= 1
            self._active_at = _now()
        if document is None or not _is_answer(document.fetch):
            await route.abort()
            return
        fetch = document.fetch
        await route.fulfill(
            status=fetch.status,
            headers=_headers(request, fetch.content_type, fetch.charset),
            body=document.body,
        )


def _is_answer(fetch: FetchOutcome) -> bool:
    """Whether a server gave a body, or an error that the page's scripts should hear of."""
    return fetch.outcome is Outcome.OK or (fetch.status or 0) >= 400


def _headers(request: Request, content_type: str | None, charset: str | None) -> dict[str, str]:
    """Headers of an answer; a page may read what it loads from a resource host."""
    kind = content_type or "application/octet-stream"
    return {
        "Content-Type": f"{kind}; charset={charset}" if charset else kind,
        "Access-Control-Allow-Origin": request.headers.get("origin", "*"),
        "Access-Control-Allow-Credentials": "true",
    }


def _bare(url: str) -> str:
    return url.partition("#")[0]


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _close_popup(popup: Page) -> None:
    with suppress(Error):
        await popup.close()


async def _dismiss_dialog(dialog: Any) -> None:
    with suppress(Error):
        await dialog.dismiss()


async def _refuse_web_socket(socket: WebSocketRoute) -> None:
    with suppress(Error):
        await socket.close()
