"""The command that says what to mend."""

from pathlib import Path

import typer

from qindex_pipeline.cli.app import app


@app.command()
def doctor() -> None:
    """Check settings, sites, models and index, and say what to mend."""
    from qindex_pipeline.doctor import examine
    from qindex_pipeline.report import print_findings

    findings = examine(Path.cwd())
    print_findings(findings)
    if any(not finding.good for finding in findings):
        raise typer.Exit(1)
