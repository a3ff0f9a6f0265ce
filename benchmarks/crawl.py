"""Crawling documentation sites: what is stored of them, how true it is, and what it costs.

    python benchmarks/crawl.py [--site NAME]... [--pages N] [--skip-peer] [--worst N] [--json FILE]
    python benchmarks/crawl.py --memory

Serves each site on loopback, crawls it in a process of its own, and holds every stored page
against selectors that `crawl_sites` names for that site. Beside it crawl4ai's own deep crawl
over HTTP does the same. Sites of generators are made and built once, into --cache. Exit code 1
says that a bar was missed. CPU seconds are those of the crawling process, the server's and the
imports' not among them; on a busy machine they grow too.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from crawl_build import generated_sites
from crawl_runs import (
    AS_INTENDED,
    Report,
    comparison,
    crawled,
    figures,
    is_stored,
    pages_left_out,
    run_worker,
    truths,
    worst,
)
from crawl_server import serving
from crawl_sites import DEBIAN, GENERATED, DocsSite
from measure import print_table

CODE, RECALL, PRECISION, LEFT_OUT = 0.98, 0.97, 0.96, 0.005
CPU_SECONDS, PEER_SHARE, GROWTH_MB = 0.06, 1 / 3, 250
MEMORY_PAGES = 1000


def main() -> None:
    """Measure the chosen sites and print the tables; exit with 1 below a bar."""
    options = _options()
    os.environ["CRAWL4_AI_BASE_DIRECTORY"] = str(options.cache / "crawl4ai")
    if options.memory:
        sys.exit(not memory())
    reports = [report for site in _sites(options) if (report := measure(site, options))]
    if not reports:
        sys.exit("none of the sites is there")
    print_ours(reports)
    if not options.skip_peer:
        print_peer(reports)
    verdicts = judge(reports)
    print_table("bars, means over sites", ("", "measured", "bar", ""), verdicts)
    for report in reports:
        for page in report["worst"]:
            print(json.dumps({"site": report["site"], **page}, ensure_ascii=False))
    if options.json:
        options.json.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(verdict[-1] == "FAIL" for verdict in verdicts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = Path(tempfile.gettempdir()) / "qindex-crawl-benchmark"
    folder = Path(os.environ.get("QINDEX_BENCHMARK_CACHE", default))
    parser.add_argument("--site", action="append", help="only this one; may be repeated")
    parser.add_argument("--pages", type=int, default=100, help="pages stored a site at most")
    parser.add_argument("--skip-peer", action="store_true", help="leave crawl4ai's crawl out")
    parser.add_argument("--worst", type=int, default=0, help="show losses of N pages a site")
    parser.add_argument(
        "--cache", type=Path, default=folder, help="built sites; also QINDEX_BENCHMARK_CACHE"
    )
    parser.add_argument("--memory", action="store_true", help="measure 1,000 pages' memory only")
    parser.add_argument("--json", type=Path, help="write all figures here too")
    options = parser.parse_args()
    options.cache = options.cache.resolve()
    return options


def _sites(options: argparse.Namespace) -> list[DocsSite]:
    known = [site.key for site in (*DEBIAN, *GENERATED)]
    wanted = options.site or known
    if unknown := set(wanted) - set(known):
        sys.exit(f"no site {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    packaged = [site for site in DEBIAN if site.key in wanted]
    return [*packaged, *generated_sites(options.cache, wanted)]


def measure(site: DocsSite, options: argparse.Namespace) -> Report | None:
    """Crawl one site with both; None, said in a line, when it is not there."""
    if not (site.folder / (site.start or "index.html")).is_file():
        print(f"{site.key}: skipped, package {site.source} is not installed", flush=True)
        return None
    with serving(site.folder) as base:
        page_truth = truths(site, base)
        ours = crawled("ours", site, base, options.pages, page_truth)
        report = {"site": site.key, **figures(ours)}
        if not options.skip_peer:
            peer = crawled("peer", site, base, options.pages, page_truth)
            report["peer"] = comparison(ours, peer)
        report["left_out"] = pages_left_out(ours, page_truth)
        report["worst"] = worst(ours, options.worst)
    print(f"{site.key}: {report['pages']} pages", flush=True)
    return report


def print_ours(reports: Sequence[Report]) -> None:
    """Print what was stored and what it cost, a line a site, and what was left out."""
    columns = {
        "asked": "asked",
        "pages": "stored",
        "html_kb": "kB a page",
        "blocks": "code blocks",
        "code": "verbatim",
        "recall": "recall",
        "precision": "precision",
        "cpu_a_page": "CPU s/page",
        "import_cpu_seconds": "import CPU s",
    }
    rows = [(report["site"], *(_cell(report[name]) for name in columns)) for report in reports]
    print_table("ours", ("site", *columns.values()), rows)
    for report in reports:
        outcomes = (f"{count} {outcome}" for outcome, count in report["outcomes"].items())
        print(f"  {report['site']}: {', '.join(outcomes)}")
    print(f"\npages left out: an HTML page with text, outcome not one of {', '.join(AS_INTENDED)}")
    left_out = [item for report in reports for item in report["left_out"]]
    for url, reason in left_out or [("none", "")]:
        print(f"  {url}  {reason}".rstrip())


def print_peer(reports: Sequence[Report]) -> None:
    """Print crawl4ai's figures beside ours; quality on the pages that both have."""
    rows = []
    for report in reports:
        peer, both = report["peer"], report["peer"]["both"]
        rows.append(
            (
                report["site"],
                peer["pages"],
                _cell(peer["html_kb"]),
                _cell(peer["cpu_a_page"]),
                _cell(report["cpu_a_page"]),
                _cell(_ratio(report)),
                both["pages"],
                *(
                    f"{_cell(both['peer'][name])} {_cell(both['ours'][name])}"
                    for name in ("code", "recall", "precision")
                ),
            )
        )
    header = ("site", "pages", "kB a page", "CPU s/page", "ours", "ratio", "both have")
    title = "crawl4ai's BFSDeepCrawlStrategy over HTTP, default markdown (its figure, then ours)"
    print_table(title, (*header, "verbatim", "recall", "precision"), rows)
    for report in reports:
        failures = report["peer"]["failures"]
        if failures:
            url, reason = failures[0]
            print(f"  {report['site']}: {len(failures)} failed, first {url}: {reason[:150]}")


def _ratio(report: Report) -> float | None:
    """Our CPU a page over the peer's, None where it broke: it did not read half as many."""
    peer = report.get("peer")
    if peer is None or peer["pages"] * 2 < report["pages"]:
        return None
    return report["cpu_a_page"] / peer["cpu_a_page"]


def judge(reports: Sequence[Report]) -> list[tuple[str, str, str, str]]:
    """(name, measured, bar, PASS or FAIL) of the means over sites."""

    def over_sites(name: str) -> float:
        return mean(report[name] for report in reports if report[name] is not None)

    missed = sum(len(report["left_out"]) for report in reports)
    stored = sum(report["pages"] for report in reports)
    verdicts = [
        _at_least("code verbatim", over_sites("code"), CODE),
        _at_least("recall", over_sites("recall"), RECALL),
        _at_least("precision", over_sites("precision"), PRECISION),
        _at_most("CPU s/page", over_sites("cpu_a_page"), CPU_SECONDS),
        _at_most("pages left out", missed / max(1, missed + stored), LEFT_OUT),
    ]
    ratios = [ratio for report in reports if (ratio := _ratio(report)) is not None]
    if ratios:
        name = f"CPU of crawl4ai's, {len(ratios)} sites that it could read"
        verdicts.append(_at_most(name, mean(ratios), PEER_SHARE))
    return verdicts


def _at_least(name: str, value: float, bar: float) -> tuple[str, str, str, str]:
    return name, f"{value:.4f}", f">= {bar:.3f}", "PASS" if value >= bar else "FAIL"


def _at_most(name: str, value: float, bar: float) -> tuple[str, str, str, str]:
    return name, f"{value:.4f}", f"<= {bar:.3f}", "PASS" if value <= bar else "FAIL"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def memory() -> bool:
    """Crawl 1,000 pages of PostgreSQL's manual and print how far the memory grows."""
    site = DEBIAN[0]
    if not site.folder.is_dir():
        sys.exit(f"package {site.source} is not installed")
    with serving(site.folder) as base:
        job = {"key": site.key, "start": base, "prefix": "", "max_pages": MEMORY_PAGES}
        done = run_worker("ours", job)
    pages = sum(map(is_stored, done["pages"]))
    growth = done["peak_mb"] - done["resting_mb"]
    passed = growth <= GROWTH_MB and pages == MEMORY_PAGES
    rows = [
        ("pages stored", pages),
        ("resident MB before the first fetch", f"{done['resting_mb']:.0f}"),
        ("resident MB at the peak", f"{done['peak_mb']:.0f}"),
        (f"growth, at most {GROWTH_MB}", f"{growth:.0f}"),
        ("verdict", "PASS" if passed else "FAIL"),
    ]
    print_table(f"memory, {MEMORY_PAGES} pages of {site.source}", ("", ""), rows)
    return passed


if __name__ == "__main__":
    main()
