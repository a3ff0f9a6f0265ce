"""The second night of a site that has not changed: what it asks, sends and costs.

    python benchmarks/nightly.py [FOLDER] [--pages N]

Serves a built site on loopback (default: PostgreSQL's manual, Debian's postgresql-doc-15), crawls
and chunks it twice, and prints both nights side by side.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crawl_server import serving
from measure import print_table

from qindex_pipeline.chunking.model import ChunkConfig
from qindex_pipeline.chunking.stage import chunk_pages
from qindex_pipeline.crawl import Crawled, crawl
from qindex_pipeline.sites import Site

_DEFAULT = Path("/usr/share/doc/postgresql-doc-15/html")


def main() -> None:
    """Crawl twice and print what each night took; exit with 1 when the second changed anything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?", default=_DEFAULT)
    parser.add_argument("--pages", type=int, default=200, help="pages stored at most")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder} is not there; install postgresql-doc-15 or name a built site")
    with serving(options.folder) as base:
        site = Site(key="nightly", start_url=base + "index.html", max_pages=options.pages)
        nights = [night(site, [])]
        nights.append(night(site, nights[0]["rows"]))
    first, second = nights
    changed = len(first["chunks"] ^ second["chunks"])
    names = [name for name in first if name not in {"rows", "chunks"}]
    rows = [(name, str(first[name]), str(second[name])) for name in names]
    rows.append(("chunks changed", "", str(changed)))
    print_table("two nights of an unchanged site", ("", "first", "second"), rows)
    sys.exit(changed > 0)


def night(site: Site, last: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One crawl and its chunks; a warm-up of the imports is no part of it."""
    import qindex_pipeline.crawl.engines.engine  # noqa: F401  crawl4ai takes seconds to import

    wall, cpu = time.monotonic(), time.process_time()
    crawled: Crawled = crawl(site, last=last)
    seconds = {
        "seconds": round(time.monotonic() - wall, 2),
        "CPU seconds": round(time.process_time() - cpu, 2),
    }
    rows = [asdict(page) for page in crawled.settled.pages]
    sent = sum(page.response_bytes or 0 for page in crawled.found.pages)
    return {
        "outcomes": dict(Counter(str(page.outcome) for page in crawled.found.pages)),
        "requests for pages": crawled.found.requests,
        **seconds,
        "kB of HTML received": round(sent / 1000),
        "rows": rows,
        "chunks": {chunk.chunk_id for chunk in chunk_pages(rows, ChunkConfig())},
    }


if __name__ == "__main__":
    main()
