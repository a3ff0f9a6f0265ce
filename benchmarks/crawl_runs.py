"""Runs one crawl as a process and holds what it stored against the pages of the server."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urldefrag, urljoin
from urllib.request import urlopen

from crawl_measures import Score, Truth, score, truth
from crawl_sites import DocsSite

WORKER = Path(__file__).with_name("crawl_worker.py")
AS_INTENDED = (
    "ok not_modified duplicate_url duplicate_content noindex robots_disallowed out_of_scope "
    "out_of_scope_redirect other_language budget_exhausted"
).split()
"""Outcomes that leave no page out: stored, stored elsewhere, refused by the site's own word,
or never asked. Any other one does, where the server has an HTML page with something to read."""
PEER_ERRORS = (
    "Crawl4AI Error:",
    "Error converting HTML to markdown:",
    "Error in markdown generation:",
)
"""Texts that crawl4ai returns as a page's markdown when it could not read the page."""

Report = dict[str, Any]
Page = Mapping[str, Any]
Truths = Callable[[str], Truth | None]
"""From a URL to what the server has there, None where it has no HTML page."""


@dataclass(frozen=True)
class Crawled:
    """What a worker process did: every URL that it asked, the stored pages scored, the cost."""

    asked: Sequence[Page]
    stored: Mapping[str, Score]
    cost: Mapping[str, float]

    @property
    def cpu_a_page(self) -> float:
        """CPU seconds of the crawl, imports not counted, over the pages that came out of it."""
        return self.cost["cpu_seconds"] / max(1, len(self.stored))


def truths(site: DocsSite, base: str) -> Truths:
    """The pages of a server as `site` describes them; each is fetched once."""

    @cache
    def page_truth(url: str) -> Truth | None:
        if not url.startswith(base):
            return None
        try:
            with urlopen(url) as response:
                kind = response.headers.get_content_type()
                is_html = kind in {"text/html", "application/xhtml+xml"}
                return truth(site, response.read()) if is_html else None
        except HTTPError:
            return None

    return page_truth


def crawled(who: str, site: DocsSite, base: str, max_pages: int, page_truth: Truths) -> Crawled:
    """Run a worker on a site and score what it stored, a page once."""
    start = urljoin(base, site.start)
    job = {"key": site.key, "start": start, "prefix": site.prefix, "max_pages": max_pages}
    result = run_worker(who, job)
    asked = result.pop("pages")
    stored: dict[str, Score] = {}
    for page in filter(is_stored, asked):
        url = urldefrag(page["final_url"]).url
        found = page_truth(url)
        if found is not None:
            stored[url] = score(found, page["markdown"])
    return Crawled(asked, stored, result)


def run_worker(who: str, job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one crawl as a process; its result."""
    with tempfile.TemporaryDirectory(prefix="qindex-crawl-") as folder:
        job_file, output = Path(folder) / "job.json", Path(folder) / "result.json"
        job_file.write_text(json.dumps(job), encoding="utf-8")
        subprocess.run([sys.executable, WORKER, who, job_file, output], check=True)
        return json.loads(output.read_text(encoding="utf-8"))


def is_stored(page: Page) -> bool:
    """Whether a page came out with content that is not the text of an error."""
    markdown = page["markdown"]
    return page["outcome"] == "ok" and bool(markdown) and not markdown.startswith(PEER_ERRORS)


def pages_left_out(ours: Crawled, page_truth: Truths) -> list[tuple[str, str]]:
    """(URL, reason) of what was asked and not stored though the server has a page there."""
    left_out = []
    for page in ours.asked:
        found = None if page["outcome"] in AS_INTENDED else page_truth(page["url"])
        if found is not None and found.is_a_page:
            reason = ": ".join(filter(None, (page["outcome"], page["error"])))
            left_out.append((page["url"], reason))
    return left_out


def figures(done: Crawled) -> Report:
    """Counts, quality and cost of one crawl."""
    return {
        "asked": len(done.asked),
        "pages": len(done.stored),
        "outcomes": dict(Counter(page["outcome"] for page in done.asked).most_common()),
        **quality(list(done.stored.values())),
        "cpu_a_page": done.cpu_a_page,
        **done.cost,
    }


def quality(scores: Sequence[Score]) -> Report:
    """Means over pages of recall and precision, share of all code blocks that are verbatim."""
    blocks = sum(page.blocks for page in scores)
    return {
        "blocks": blocks,
        "code": sum(page.verbatim for page in scores) / blocks if blocks else None,
        "recall": mean(page.recall for page in scores) if scores else None,
        "precision": mean(page.precision for page in scores) if scores else None,
        "html_kb": mean(page.size for page in scores) / 1000 if scores else None,
    }


def comparison(ours: Crawled, peer: Crawled) -> Report:
    """The peer's figures and failures, and both on the pages that both have."""
    both = ours.stored.keys() & peer.stored.keys()
    return {
        **figures(peer),
        "failures": [
            (page["url"], _first_line(page)) for page in peer.asked if not is_stored(page)
        ],
        "both": {
            "pages": len(both),
            "ours": quality([ours.stored[url] for url in both]),
            "peer": quality([peer.stored[url] for url in both]),
        },
    }


def _first_line(page: Page) -> str:
    """What crawl4ai said of a failure, without the lines of its source that follow."""
    lines = (page["error"] or page["markdown"] or "no markdown").strip().splitlines()
    telling = (line for line in lines if line.startswith(("Error:", *PEER_ERRORS)))
    return next(telling, lines[0])


def worst(done: Crawled, count: int) -> list[Report]:
    """The pages with the largest losses, with what was lost and added most."""

    def loss(item: tuple[str, Score]) -> float:
        page = item[1]
        return page.recall + page.precision - (page.blocks - page.verbatim) / max(1, page.blocks)

    return [
        {
            "url": url,
            "recall": page.recall,
            "precision": page.precision,
            "lost": page.lost.most_common(12),
            "added": page.added.most_common(12),
            "broken_code": page.broken_code[:2],
        }
        for url, page in sorted(done.stored.items(), key=loss)[:count]
    ]
