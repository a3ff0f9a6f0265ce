"""The application that the commands register with, and the options that several share."""

import logging
from importlib.metadata import version
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from qindex_pipeline.errors import UsageError


class Commands(TyperGroup):
    """The commands, of which those that build an index need the extra `pipeline`."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what the extra would have brought is said in one line."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            from qindex_pipeline.extras import install_command, modules_of

            if error.name is None or error.name.partition(".")[0] not in modules_of("pipeline"):
                raise  # a fault of ours, or of a package that is installed
            raise UsageError(
                f"{ctx.invoked_subcommand} needs the pipeline, which is not installed: "
                f"{install_command('pipeline')}"
            ) from error


app = typer.Typer(
    cls=Commands,
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
