"""What is kept of a gap report: rows of its table, and a file for those without Dagster's UI."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from qindex_pipeline.gaps.gap import GapReport
from qindex_pipeline.ids import content_hash


def gap_rows(report: GapReport) -> list[dict[str, Any]]:
    """Rows of the documentation_gaps table; none without an ask."""
    return [
        {
            "site": report.site,
            "gap_id": content_hash(report.site, gap.question),
            "rank": rank,
            "first_day": report.first_day,
            "last_day": report.last_day,
            **asdict(gap),
        }
        for gaps in (report.gaps, report.off_topic)
        for rank, gap in enumerate(gaps, start=1)
    ]


def gap_folder(state_dir: Path) -> Path:
    """Where the sites' reports lie."""
    return state_dir / "gaps"


def forget(folder: Path, site: str) -> None:
    """Delete a site's report, if there is one."""
    for name in (f"{site}.md", f"{site}.png"):
        (folder / name).unlink(missing_ok=True)


def keep(folder: Path, site: str, text: str, picture: bytes | None) -> Path:
    """Write a report with its picture into a folder; the report's file."""
    folder.mkdir(parents=True, exist_ok=True)
    forget(folder, site)
    if picture is not None:
        (folder / f"{site}.png").write_bytes(picture)
    report = folder / f"{site}.md"
    report.write_text(text, encoding="utf-8")
    return report
