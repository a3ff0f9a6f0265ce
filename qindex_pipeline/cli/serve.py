"""The commands that let others ask: serve, mcp."""

from typing import Annotated

import typer

from qindex_pipeline.cli.app import SiteOption, app

HostOption = Annotated[str, typer.Option(help="Address to listen on.")]


@app.command()
def serve(
    host: HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8765,
    site: SiteOption = None,
) -> None:
    """Serve a page to ask on, and the JSON endpoints behind it."""
    from qindex_pipeline.serving.running import serve_page
    from qindex_pipeline.settings import Settings

    serve_page(Settings.from_env(), host, port, site)


@app.command()
def mcp(
    site: SiteOption = None,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP, not stdio.")] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8766,
) -> None:
    """Serve the tools ask, search and sites over the Model Context Protocol."""
    from qindex_pipeline.serving.running import serve_mcp_over_http, serve_mcp_over_stdio
    from qindex_pipeline.settings import Settings

    settings = Settings.from_env()
    if http:
        serve_mcp_over_http(settings, host, port, site)
    else:
        serve_mcp_over_stdio(settings, site)
