"""Markdown of real pages that a test run can reach: our own docs, and what is on the machine."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from qindex_pipeline.crawl.extract.extraction import extract
from qindex_pipeline_tests.stl import ROOT, stl_site

DEBIAN = {
    "postgresql": "/usr/share/doc/postgresql-doc-15/html",
    "python": "/usr/share/doc/python3.11/html",
    "sqlite": "/usr/share/doc/sqlite3",
    "git": "/usr/share/doc/git-doc",
    "django": "/usr/share/doc/python-django-doc/html",
    "cmake": "/usr/share/doc/cmake-data/html",
}
OWN = ROOT / "docs"
_A_SITE = 8
_LARGEST_PAGE = 300_000


def folders() -> dict[str, Path | None]:
    """Every source of pages by name, None where it is absent."""
    debian = {name: Path(folder) for name, folder in DEBIAN.items()}
    present = {name: folder if folder.is_dir() else None for name, folder in debian.items()}
    return {"own docs": OWN, "stl": stl_site(), **present}


@cache
def pages_of(folder: Path) -> dict[str, str]:
    """The markdown of some pages of a folder by their path, spread over all of them."""
    files = sorted(
        path
        for path in folder.rglob("*.html")
        if path.is_file() and path.stat().st_size < _LARGEST_PAGE
    )
    chosen = files[:: max(1, len(files) // _A_SITE)][:_A_SITE]
    return dict(_extracted(folder, chosen))


def markdown_of(path: Path) -> str:
    html = path.read_text(encoding="utf-8", errors="replace")
    return extract(html, f"https://docs.example.com/{path.name}").markdown


def _extracted(folder: Path, paths: list[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        yield str(path.relative_to(folder)), markdown_of(path)
