"""The command line `qindex`. Exit codes: 0 done, 1 the work failed, 2 the call was wrong."""

import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import typer

from qindex_pipeline.errors import QIndexError, UsageError, WorkError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # an error is a line, not a box
    help="A RAG index of questions for docs sites.",
)
sites_app = typer.Typer(no_args_is_help=True, help="The sites file.")
app.add_typer(sites_app, name="sites")

SiteOption = Annotated[str | None, typer.Option("--site", help="Key of the site.")]
RenderOption = Annotated[
    Literal["http", "browser", "auto"] | None,
    typer.Option("--render", help="How pages are fetched; http for a new site."),
]


def main() -> None:
    """Run the command line; an error is one line on standard error."""
    try:
        app()
    except QIndexError as error:
        sys.stderr.write(f"qindex: {error}\n")
        sys.exit(error.exit_code)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"qindex {version('qindex_pipeline')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say which models are used.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print results and errors only.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that stand before every command."""
    del show_version
    if verbose and quiet:
        raise UsageError("--verbose and --quiet exclude each other")
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR)
    context.obj = "verbose" if verbose else "quiet" if quiet else "normal"


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
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    site: SiteOption = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=50, help="Results, at most.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Confidence a result needs.")] = None,
    legs: Annotated[
        str, typer.Option(help="Legs that rank, of passage,question,bm25.")
    ] = "passage,question,bm25",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_answer: Annotated[bool, typer.Option("--no-answer", help="Only rank.")] = False,
) -> None:
    """Ask the index; a refusal is an answer too."""
    from qindex_pipeline.console import print_answer, source_lines
    from qindex_pipeline.query import QIndex
    from qindex_pipeline.retrieval.legs import parse_legs

    index = QIndex.from_env()
    chosen = parse_legs(legs.split(","))
    if as_json or no_answer:
        answer = index.ask(
            question, site, top_k, threshold=threshold, legs=chosen, write_answer=not no_answer
        )
        typer.echo(
            json.dumps(answer.to_json(), ensure_ascii=False)
            if as_json
            else "\n".join(source_lines(answer))
        )
    else:
        print_answer(index.stream(question, site, top_k, threshold=threshold, legs=chosen))
    if context.obj == "verbose":
        typer.echo(index.models.line, err=True)


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
    from qindex_pipeline.sites import load_sites

    settings = Settings.from_env()
    known = load_sites(settings.sites)
    if site is not None and site not in known:
        raise UsageError(f"{settings.sites} has no site {site!r}; `qindex sites list` shows all")
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


@app.command("eval")
def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.jsonl", help="Rows {id, question, page, also}.")
    ],
    site: Annotated[str, typer.Option("--site", help="Key of the site.")],
    unanswerable: Annotated[
        Path | None, typer.Option(help="Rows {id, question} that the docs don't answer.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask questions whose pages are known, and count what is found."""
    from qindex_pipeline.retrieval.evaluation.evaluating import evaluate_published
    from qindex_pipeline.retrieval.evaluation.report import report_lines
    from qindex_pipeline.settings import Settings

    found = evaluate_published(Settings.from_env(), site, questions, unanswerable)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        typer.echo("\n".join(report_lines(found)))


@sites_app.command("list")
def list_sites() -> None:
    """Show the sites of the file, and what was stored of each."""
    from qindex_pipeline.report import print_sites
    from qindex_pipeline.settings import Settings

    print_sites(Settings.from_env())


@sites_app.command("add")
def add(
    target: Annotated[str, typer.Argument(metavar="URL|FOLDER")],
    max_pages: Annotated[int | None, typer.Argument(min=1)] = None,
    site: SiteOption = None,
    base_url: Annotated[str | None, typer.Option(help="Address of a folder's pages.")] = None,
    render: RenderOption = None,
) -> None:
    """Add a site to the file without crawling it."""
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import add_site, load_sites, site_of

    settings = Settings.from_env()
    known = load_sites(settings.sites)
    wanted = site_of(target, known, key=site, max_pages=max_pages, base_url=base_url, render=render)
    add_site(settings.sites, wanted)
    typer.echo(f"added {wanted.key} to {settings.sites}")


@sites_app.command("remove")
def remove(
    key: Annotated[str, typer.Argument(help="Key of the site.")],
    purge: Annotated[bool, typer.Option("--purge", help="Delete its tables and points.")] = False,
) -> None:
    """Take a site out of the file; with --purge also out of tables and index."""
    from qindex_pipeline.removal import purge_site
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import remove_site

    settings = Settings.from_env()
    remove_site(settings.sites, key)
    typer.echo(f"removed {key} from {settings.sites}")
    if purge:
        deleted = purge_site(settings, key, lambda line: typer.echo(line, err=True))
        typer.echo(f"deleted {deleted} points and the tables of {key}")


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


@app.command()
def doctor() -> None:
    """Check settings, sites, models and index, and say what to mend."""
    from qindex_pipeline.doctor import examine
    from qindex_pipeline.report import print_findings

    findings = examine(Path.cwd())
    print_findings(findings)
    if any(not finding.good for finding in findings):
        raise typer.Exit(1)
