"""The pages of the chunking benchmark: markdown that our extraction makes of real docs sites."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crawl_build import generated_sites
from crawl_sites import DEBIAN, GENERATED, DocsSite

from qindex_pipeline.crawl.extract.extraction import extract

_LARGEST_PAGE = 2_000_000


def pages_of(cache: Path, a_site: int) -> list[dict[str, Any]]:
    """Up to `a_site` pages of each site that is there, spread over all of its files."""
    present = [site for site in DEBIAN if site.folder.is_dir()]
    sites = [*present, *generated_sites(cache, [site.key for site in GENERATED])]
    return [page for site in sites for page in _of_site(site, a_site)]


def _of_site(site: DocsSite, wanted: int) -> Iterator[dict[str, Any]]:
    files = _files(site)
    for path in files[:: max(1, len(files) // wanted)][:wanted]:
        url = f"https://{site.key}.example.com/{path.relative_to(site.folder).as_posix()}"
        page = extract(path.read_text(encoding="utf-8", errors="replace"), url)
        if page.markdown.strip():
            yield {
                "site": site.key,
                "url": url,
                "label": page.h1 or url,
                "summary": page.summary or "",
                "markdown": page.markdown,
                "headings": list(page.headings),
            }


def _files(site: DocsSite) -> Sequence[Path]:
    folder = site.folder / site.prefix.strip("/")
    return sorted(
        path
        for path in folder.rglob("*.html*")
        if path.suffix in (".html", ".en")
        and path.is_file()
        and path.stat().st_size < _LARGEST_PAGE
    )
