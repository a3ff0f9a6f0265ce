"""The servers as processes: what `qindex serve` and `qindex mcp` run until they are told to end.

What they say to a person goes to standard error; in stdio mode standard output is the protocol's.
"""

import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from qindex_pipeline.errors import UsageError
from qindex_pipeline.serving.asker import Asker, NotReadyError
from qindex_pipeline.serving.guard import is_loopback
from qindex_pipeline.serving.listening import listen, serve, until_told, url_of

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

MCP_PATH = "mcp"


def serve_page(settings: "Settings", host: str, port: int, site: str | None) -> None:
    """Serve the page to ask on, until Ctrl-C or SIGTERM.

    Raises UsageError for a site that the index does not have, WorkError when the address is taken.
    """
    from qindex_pipeline.serving.web import web_app

    asker = Asker.of(settings, site)
    with until_told():
        listening = listen(host, port)
        _announce(asker, site, host, url_of(listening))
        serve(web_app(asker, only_loopback=is_loopback(host)), listening)


def serve_mcp_over_http(settings: "Settings", host: str, port: int, site: str | None) -> None:
    """Serve the MCP tools over streamable HTTP, until Ctrl-C or SIGTERM; errors as `serve_page`.

    On a loopback address the package turns away requests that name another host or come from
    another site's page.
    """
    from qindex_pipeline.serving.mcp_server import mcp_server

    asker = Asker.of(settings, site)
    app = mcp_server(asker).streamable_http_app(
        streamable_http_path=f"/{MCP_PATH}",
        host="127.0.0.1" if is_loopback(host) else host,
        # A call is one request and one reply: no session to lose with a restart.
        stateless_http=True,
        json_response=True,
    )
    with until_told(), closing(asker):
        listening = listen(host, port)
        _announce(asker, site, host, f"{url_of(listening)}{MCP_PATH}")
        serve(app, listening)


def serve_mcp_over_stdio(settings: "Settings", site: str | None) -> None:
    """Serve the MCP tools on standard input and output, until end of file, Ctrl-C or SIGTERM.

    The index is opened with the first question: trouble with it is told to whoever asks.
    """
    import anyio
    from mcp.server.stdio import stdio_server

    from qindex_pipeline.serving.mcp_server import mcp_server

    asker = Asker.of(settings, site)
    server = mcp_server(asker)

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    # A read of standard input cannot be cancelled. In a daemon thread, and in the threads that it
    # starts, it does not hold up the end of the process.
    thread = threading.Thread(target=anyio.run, args=[run], name="mcp", daemon=True)
    with until_told(), closing(asker):
        thread.start()
        thread.join()


def _announce(asker: Asker, site: str | None, host: str, url: str) -> None:
    """Say where the index is asked, and what stands in the way."""
    lines: list[str] = []
    try:
        sites = asker.open()
        if site is not None and not sites:
            raise UsageError(f"the index has no site {site!r}; `qindex sites list` shows all")
        named = f"{asker.collection_name} ({', '.join(sites)})"
    except NotReadyError as error:
        lines.append(f"not yet: {error}; the index is asked as soon as it is there")
        named = "an index that is to come"
    if not is_loopback(host):
        lines.append(f"warning: {host} can be reached from the network, and there is no login")
    lines.append(f"Asking {named} on {url}  Ctrl-C ends")
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.stderr.flush()
