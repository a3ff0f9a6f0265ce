"""The command that tells what the last runs changed."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qindex_pipeline.cli.app import SiteOption, app
from qindex_pipeline.errors import WorkError

if TYPE_CHECKING:
    from qindex_pipeline.changes.stored import Latest


@app.command()
def report(
    site: SiteOption = None,
    last: Annotated[int, typer.Option("--last", min=1, help="Reports of a site, at most.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what the last runs changed: pages, chunks, questions, cost, confidence."""
    from qindex_pipeline.changes.stored import latest_reports
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import load_sites, require_known
    from qindex_pipeline.store import ParquetStore

    settings = Settings.from_env()
    known = load_sites(settings.sites)
    require_known(settings.sites, known, site)
    store = ParquetStore(settings.data)
    found = [latest_reports(store, key, last) for key in ([site] if site else known)]
    told = [item for item in found if item.reports]
    if as_json:
        shown = {"sites": [_to_json(item) for item in found]}
        typer.echo(json.dumps(shown, ensure_ascii=False, default=datetime.isoformat))
    elif told:
        typer.echo("\n\n\n".join("\n\n".join(item.texts) for item in told))
    silent = ", ".join(item.site for item in found if not item.reports)
    if silent or not found:
        line = f"no report yet of {silent or 'any site'}: `qindex ingest` writes one, or a run "
        line += "of the job site_refresh"
        if not told:
            raise WorkError(line)
        typer.echo(line, err=True)


def _to_json(latest: "Latest") -> dict[str, Any]:
    return {"site": latest.site, "crawled_at": latest.crawled_at, "reports": latest.reports}
