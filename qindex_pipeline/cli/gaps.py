"""The command about what the docs do not answer: gaps."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qindex_pipeline.cli.app import SiteOption, app
from qindex_pipeline.errors import UsageError

if TYPE_CHECKING:
    from qindex_pipeline.gaps.gap import GapReport

_SHOWN = 20


@app.command()
def gaps(
    context: typer.Context,
    site: SiteOption = None,
    days: Annotated[
        int, typer.Option(min=1, max=3660, help="Days of the log, up to its last one.")
    ] = 28,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="All gaps, other subjects and unreached pages too.")
    ] = False,
) -> None:
    """Show what was asked, and the docs do not answer."""
    from qindex_pipeline.gaps.finding import Embedding, find_gaps, require_log
    from qindex_pipeline.pipeline import Pipeline
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import load_sites

    settings = Settings.from_env()
    require_log(settings)
    known = load_sites(settings.sites)
    key = _site(settings.sites, list(known), site)
    tools = Pipeline(settings, known, site=key)
    tools.preflight(key)
    if context.obj == "verbose":
        typer.echo(tools.models.line, err=True)
    confidence = tools.models.confidence_threshold
    embedding = Embedding(tools.query_vectors, tools.fingerprint.digest, confidence)
    report = find_gaps(settings, key, embedding, days)
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        _print(report, show_all)


def _site(file: Path, known: Sequence[str], site: str | None) -> str:
    """The site that is meant: the named one, or the only one."""
    from qindex_pipeline.sites import require_known

    require_known(file, known, site)
    if site is None and len(known) != 1:
        raise UsageError(f"which site of {file}? --site takes one of {', '.join(known) or 'none'}")
    return site or known[0]


def _print(report: "GapReport", show_all: bool) -> None:
    from qindex_pipeline.console import table, write_line
    from qindex_pipeline.gaps.wording import shown_rows, summary, unreached_line

    header = ("asks", "a week", "what is asked", "why", "nearest page")
    limit = None if show_all else _SHOWN
    parts = [("what the docs do not answer", report.gaps)]
    if show_all:
        parts.append(("about other subjects", report.off_topic))
    write_line(summary(report))
    for title, found in parts:
        rows = list(shown_rows(found[:limit]))
        if rows:
            table(f"{report.site}: {title}", rows, header=header)
    more = 0 if limit is None else max(0, len(report.gaps) - limit)
    if more:
        write_line(f"{more} gaps more: --all shows them")
    if report.asks:
        write_line(f"Pages that no question reached: {unreached_line(report)}")
    if show_all and report.reaches_say_something:
        for page in report.unreached:
            write_line(f"  {page.url}  {page.title}")
