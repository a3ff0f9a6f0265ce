"""The web application: the page to ask on, and the endpoints behind it.

Answers are those of the query module; nothing of a request is stored or logged here.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from qindex_pipeline.errors import QIndexError, TransientError, UsageError
from qindex_pipeline.serving.asker import Asker, NotReadyError
from qindex_pipeline.serving.events import server_sent_events
from qindex_pipeline.serving.guard import LOOPBACK_HOSTS, Guard
from qindex_pipeline.serving.page import asset, page_html
from qindex_pipeline.serving.view import answer_view, failure_view, outcome

ASSETS = {"ask.css": "text/css", "ask.js": "text/javascript"}


def web_app(asker: Asker, *, only_loopback: bool = True) -> Starlette:
    """The application that asks through `asker`.

    Args:
        asker: Asks the index; closed when the application ends.
        only_loopback: Turn requests away that name another host than this machine's loopback.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        asker.close()

    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_HOSTS, www_redirect=False)
    return Starlette(
        routes=[
            Route("/", partial(_page, asker), methods=["GET"]),
            Route("/ask", partial(_ask, asker), methods=["GET"]),
            Route("/stream", partial(_stream, asker), methods=["GET"]),
            Route("/sites", partial(_sites, asker), methods=["GET"]),
            Route("/health", partial(_health, asker), methods=["GET"]),
            Route("/favicon.ico", _no_icon, methods=["GET"]),
            *(Route(f"/{name}", _asset(name, kind)) for name, kind in ASSETS.items()),
        ],
        middleware=[Middleware(Guard), *([hosts] if only_loopback else [])],
        exception_handlers={QIndexError: _failed},
        lifespan=lifespan,
    )


async def _page(asker: Asker, request: Request) -> Response:
    question = request.query_params.get("q", "")
    site = request.query_params.get("site") or None
    try:
        sites = await asker.sites()
    except QIndexError as error:
        shown = page_html([], question, site, shown=failure_view(str(error)))
        return HTMLResponse(shown, status_of(error))
    if not question.strip():
        return HTMLResponse(page_html(sites, site=site))
    try:
        answer = await asker.ask(question, site)
    except QIndexError as error:
        shown = page_html(sites, question, site, shown=failure_view(str(error)))
        return HTMLResponse(shown, status_of(error))
    return HTMLResponse(page_html(sites, question, site, outcome(answer), answer_view(answer)))


async def _ask(asker: Asker, request: Request) -> Response:
    answer = await asker.ask(*_asked(request.query_params))
    return JSONResponse(answer.to_json())


async def _stream(asker: Asker, request: Request) -> Response:
    pieces = asker.stream(*_asked(request.query_params))
    await anext(pieces)  # the search is done: from here on an error can only be an event
    return StreamingResponse(
        server_sent_events(pieces),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},  # nginx would hold the pieces back
    )


async def _sites(asker: Asker, _: Request) -> Response:
    return JSONResponse({"sites": await asker.sites()})


async def _health(asker: Asker, _: Request) -> Response:
    sites = await asker.sites()
    return JSONResponse({"status": "ok", "collection": asker.collection_name, "sites": sites})


async def _no_icon(_: Request) -> Response:
    return Response(status_code=204)


def _asset(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(_: Request) -> Response:
        # Asked again each time: a new release must not meet an old script.
        return Response(asset(name), media_type=kind, headers={"Cache-Control": "no-cache"})

    return serve


def status_of(error: Exception) -> int:
    """400 for a mistake of the caller, 503 for what may pass, 502 for a provider that fails."""
    if isinstance(error, UsageError):
        return 400
    return 503 if isinstance(error, TransientError) else 502


def _failed(_: Request, error: Exception) -> Response:
    headers = {"Retry-After": "60"} if isinstance(error, NotReadyError) else None
    return JSONResponse({"error": str(error)}, status_of(error), headers)


def _asked(query: Mapping[str, str]) -> tuple[str, str | None, int | None]:
    """Question, site and top_k of a query string; raises UsageError for what is none."""
    top_k = query.get("top_k") or None
    if top_k is not None and not (top_k.isascii() and top_k.isdigit()):
        raise UsageError(f"top_k is {top_k!r}, give a number")
    return query.get("question", ""), query.get("site") or None, int(top_k) if top_k else None
