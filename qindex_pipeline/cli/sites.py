"""The commands about the sites file."""

from typing import Annotated

import typer

from qindex_pipeline.cli.app import RenderOption, SiteOption, app

sites_app = typer.Typer(no_args_is_help=True, help="The sites file.")
app.add_typer(sites_app, name="sites")


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
