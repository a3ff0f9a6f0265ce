"""The command line `qindex`. Exit codes: 0 done, 1 the work failed, 2 the call was wrong."""

import sys

from qindex_pipeline.cli import asking, building, doctor, explain, gaps, report, serve, sites
from qindex_pipeline.cli.app import app
from qindex_pipeline.errors import QIndexError

# A module registers its commands when it is imported.
__all__ = ["asking", "building", "doctor", "explain", "gaps", "main", "report", "serve", "sites"]


def main() -> None:
    """Run the command line; an error is one line on standard error."""
    try:
        app()
    except QIndexError as error:
        sys.stderr.write(f"qindex: {error}\n")
        sys.exit(error.exit_code)
