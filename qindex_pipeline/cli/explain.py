"""The commands that show what stands behind an answer: explain, show."""

import json
from typing import Annotated

import typer

from qindex_pipeline.cli.app import SiteOption, app
from qindex_pipeline.errors import UsageError


@app.command()
def explain(
    question: Annotated[str, typer.Argument(help="What was asked.")],
    page: Annotated[
        str | None, typer.Option(help="URL or path of the page that should have won.")
    ] = None,
    site: SiteOption = None,
    threshold: Annotated[float | None, typer.Option(help="Confidence a result needs.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=50, help="Results, at most.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say why a question got its results, and which leg lost a page; asks no model."""
    from qindex_pipeline.explaining.explain import Request
    from qindex_pipeline.explaining.explain import explain as run
    from qindex_pipeline.explaining.text.explain_text import explanation_lines
    from qindex_pipeline.settings import Settings

    found = run(Settings.from_env(), Request(question, site, page, threshold, top_k))
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        typer.echo("\n".join(explanation_lines(found)))


@app.command()
def show(
    page: Annotated[str, typer.Argument(metavar="URL|CHUNK_ID", help="A page, or a chunk.")],
    site: SiteOption = None,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="List the rejected questions instead.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List accepted and rejected questions.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a page's chunks with their questions and verdicts, or one chunk with its text."""
    from qindex_pipeline.explaining.shown import show as run
    from qindex_pipeline.explaining.text.show_text import shown_lines
    from qindex_pipeline.settings import Settings

    if rejected and every:
        raise UsageError("--rejected and --all exclude each other")
    found = run(Settings.from_env(), page, site)
    if as_json:
        shown = {"pages": [item.to_json() for item in found]}
        typer.echo(json.dumps(shown, ensure_ascii=False))
    else:
        wanted = "all" if every else "rejected" if rejected else "accepted"
        typer.echo("\n".join(shown_lines(found, wanted)))
