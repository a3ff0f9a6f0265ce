"""The commands that make the index: ingest, plan, rebuild, rollback."""

import json
from typing import Annotated

import typer

from qindex_pipeline.cli.app import RenderOption, SiteOption, app
from qindex_pipeline.errors import WorkError


@app.command()
def ingest(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="URL|FOLDER", help="Where the pages are.")],
    max_pages: Annotated[
        int | None, typer.Argument(min=1, help="Pages stored at most; 30 for a new site.")
    ] = None,
    site: SiteOption = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of a folder's pages, for ids and citations.")
    ] = None,
    render: RenderOption = None,
) -> None:
    """Crawl a site, write its questions, and publish them."""
    from qindex_pipeline.console import ConsoleProgress
    from qindex_pipeline.pipeline import Pipeline
    from qindex_pipeline.progress import silent
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import load_sites, site_of

    settings = Settings.from_env()
    known = load_sites(settings.sites)
    wanted = site_of(target, known, key=site, max_pages=max_pages, base_url=base_url, render=render)
    tools = Pipeline(settings, known)
    tools.preflight(wanted.key)
    is_quiet = context.obj == "quiet"
    if not is_quiet:
        typer.echo(tools.models.line, err=True)

    # Dagster takes seconds to import: only once it is clear that the run can begin.
    from qindex_pipeline.ingest import ingest as run
    from qindex_pipeline.report import print_report

    progress = ConsoleProgress()
    try:
        done = run(settings, wanted, silent if is_quiet else progress)
    finally:
        progress.close()
    if not is_quiet:
        print_report(done)


@app.command()
def plan(
    site: SiteOption = None,
    urls: Annotated[bool, typer.Option("--urls", help="List what would be asked first.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a run would fetch, ask and cost; spends nothing and writes nothing."""
    from qindex_pipeline.pipeline import Pipeline
    from qindex_pipeline.planning.plan import plan_sites
    from qindex_pipeline.planning.report import print_plan
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import load_sites, require_known

    settings = Settings.from_env()
    known = load_sites(settings.sites)
    require_known(settings.sites, known, site)
    if not known:
        typer.echo(f"{settings.sites}: no site yet, `qindex ingest URL` adds one", err=True)
    chosen = known.values() if site is None else [known[site]]
    plans = plan_sites(Pipeline(settings, known), chosen)
    if as_json:
        shown = {"sites": [item.to_json(with_urls=urls) for item in plans]}
        typer.echo(json.dumps(shown, ensure_ascii=False))
    else:
        for item in plans:
            print_plan(item, with_urls=urls)
    failing = [item.site for item in plans if item.problem is not None]
    if failing:
        raise WorkError(f"a run would fail for {', '.join(failing)}: see the plan")


@app.command()
def rebuild(context: typer.Context, site: SiteOption = None) -> None:
    """Make the collection equal to the tables; asks no model and embeds nothing."""
    from qindex_pipeline.rebuild import rebuild as run
    from qindex_pipeline.settings import Settings

    for done in run(Settings.from_env(), site, lambda line: typer.echo(line, err=True)):
        if context.obj != "quiet":
            typer.echo(done.line)


@app.command()
def rollback(context: typer.Context) -> None:
    """Let questions be answered from what was published before; again takes it back."""
    from qindex_pipeline.rebuild import rollback as run
    from qindex_pipeline.settings import Settings

    done = run(Settings.from_env(), lambda line: typer.echo(line, err=True))
    if context.obj != "quiet":
        typer.echo(f"readers see {done.now} now; before: {done.before}")
