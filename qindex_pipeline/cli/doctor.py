"""The command that says what to mend."""

from pathlib import Path

import typer

from qindex_pipeline.cli.app import app


@app.command()
def doctor() -> None:
    """Check settings, sites, models and index, and say what to mend."""
    from qindex_pipeline.console import table
    from qindex_pipeline.doctor import examine

    findings = examine(Path.cwd())
    rows = [("ok" if item.good else "MEND", item.what, item.detail) for item in findings]
    table("qindex doctor", rows)
    if any(not finding.good for finding in findings):
        raise typer.Exit(1)
