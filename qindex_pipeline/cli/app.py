"""The application that the commands register with, and the options that several share."""

import logging
from importlib.metadata import version
from typing import Annotated, Literal

import typer

from qindex_pipeline.errors import UsageError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # an error is a line, not a box
    help="A RAG index of questions for docs sites.",
)

SiteOption = Annotated[str | None, typer.Option("--site", help="Key of the site.")]
RenderOption = Annotated[
    Literal["http", "browser", "auto"] | None,
    typer.Option("--render", help="How pages are fetched; http for a new site."),
]


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
