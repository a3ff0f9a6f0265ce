"""The query module is light: an application that asks pays for nothing that it does not use."""

import subprocess
import sys
from pathlib import Path

HEAVY = ("dagster", "crawl4ai", "pandas", "playwright", "qdrant_client", "pyarrow")

SCRIPT = f"""
import sys
import qindex_pipeline.query
print(*sorted(set({HEAVY!r}) & set(sys.modules)))
"""


def test_importing_the_query_module_loads_nothing_heavy() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == []
