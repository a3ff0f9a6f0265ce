"""Chunking documentation: what is broken, lost or doubled, and how fast it goes.

    python benchmarks/chunking.py [--pages N] [--examples N] [--json FILE]
    python benchmarks/chunking.py --hostile

Chunks real pages of docs sites with this project's chunker and with others, which are installed
once into an environment of their own in --cache, and judges the texts of all of them with the
same code. Speed is megabytes of markdown a second of CPU time of one core. --hostile times five
megabytes of the worst text instead. Exit code 1 says that a bar was missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from chunking_measures import Damage, Truth, damage
from chunking_pages import pages_of
from measure import print_table, run_measured
from rich.console import Console
from rich.table import Table

PEERS = {
    "langchain": "LangChain",
    "llama_index": "LlamaIndex",
    "semantic_text_splitter": "semantic-text-splitter",
}
REQUIREMENTS = (
    "langchain-text-splitters==1.*",
    "llama-index-core==0.14.*",
    "semantic-text-splitter==0.*",
)
PARSERS = {"markdown_it": "markdown-it-py", "markdown_it_blocks": "markdown-it-py, blocks only"}
NAMES = {"ours": "ours", **PEERS, **PARSERS}
COUNTS = {
    "chunks": "chunks",
    "unbalanced": "unbalanced fences",
    "lost": "lost lines",
    "doubled": "doubled lines",
    "headless": "tables without header",
    "from_code": "headings from code",
    "oversized": "over the limit",
    "declared": "over, declared",
    "tiny": "under 12 words",
}
BARS = ("unbalanced", "lost", "doubled", "headless", "from_code", "oversized")
LEAST_PAGES, LEAST_SITES, LEAST_SPEED = 150, 6, 0.5
HOSTILE = {"backticks": "`", "hashes": "#", "pipes": "|", "quotes": "> ", "a": "a", "words": "a "}
HOSTILE_BYTES, ONE_LINE_SECONDS, MANY_LINES_SECONDS, MEMORY_TIMES = 5_000_000, 10, 60, 15
_TIMED = """
import sys, time
import psutil
from qindex_pipeline.chunking import ChunkConfig, PageText, chunk_page
piece, size = sys.argv[1], int(sys.argv[2])
page = PageText("s", "0" * 32, "u", "l", "", piece * (size // len(piece)), (), "en")
resting, begun, started = psutil.Process().memory_info().rss, time.time(), time.process_time()
chunks = len(chunk_page(page, ChunkConfig()))
seconds = time.process_time() - started
print(seconds, resting / 1e6, begun, time.time(), chunks)
"""


def main() -> None:
    """Measure, print the tables and exit with 1 below a bar."""
    options = _options()
    verdicts = hostile() if options.hostile else compared(options)
    print_table("bars", ("", "measured", "bar", ""), verdicts)
    sys.exit(any(verdict[-1] == "FAIL" for verdict in verdicts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    # The folder of the crawl benchmark: both build the same sites.
    default = Path(tempfile.gettempdir()) / "qindex-crawl-benchmark"
    folder = Path(os.environ.get("QINDEX_BENCHMARK_CACHE", default))
    parser.add_argument("--pages", type=int, default=22, help="pages a site at most")
    parser.add_argument("--examples", type=int, default=0, help="show N damages a chunker")
    parser.add_argument("--hostile", action="store_true", help="time the worst text only")
    parser.add_argument(
        "--cache", type=Path, default=folder, help="sites, peers; also QINDEX_BENCHMARK_CACHE"
    )
    parser.add_argument("--json", type=Path, help="write all figures here too")
    return parser.parse_args()


def compared(options: argparse.Namespace) -> list[tuple[str, str, str, str]]:
    """Chunk the pages with everyone, print the comparison, judge ours."""
    pages = pages_of(options.cache, options.pages)
    sites = Counter(page["site"] for page in pages)
    megabytes = sum(len(page["markdown"].encode()) for page in pages) / 1e6
    found = ", ".join(f"{site} {count}" for site, count in sites.items())
    print(f"{len(pages)} pages, {megabytes:.2f} MB of markdown: {found}", flush=True)
    python = peers_python(options.cache)
    truths = [Truth(page["markdown"]) for page in pages]
    reports = {}
    for name, spoken in NAMES.items():
        result = chunked(name, pages, python if name in PEERS else Path(sys.executable))
        total = Damage()
        for page, truth, chunks in zip(pages, truths, result["pages"], strict=True):
            total.add(damage(truth, chunks, page["url"]))
        reports[name] = {**vars(total), "mb_per_second": megabytes / result["cpu_seconds"]}
        shown = 0 if name in PARSERS else options.examples
        for example in total.examples[:shown]:
            print(f"{spoken}: {example}")
    _print(reports)
    if options.json:
        content = {"sites": sites, "megabytes": megabytes, "chunkers": reports}
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return judged(reports, len(pages), len(sites))


def peers_python(cache: Path) -> Path:
    """The interpreter of an environment that has the peers, made when it is not there yet."""
    folder = cache / "chunkers"
    python, done = folder / "bin/python", folder / "installed"
    if not done.is_file() or done.read_text(encoding="utf-8") != str(REQUIREMENTS):
        print("installing the other chunkers, once", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        done.write_text(str(REQUIREMENTS), encoding="utf-8")
    return python


def chunked(name: str, pages: list[dict[str, Any]], python: Path) -> dict[str, Any]:
    """What a chunker makes of the pages, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "pages.json"), Path(folder, "chunks.json")
        given.write_text(json.dumps(pages), encoding="utf-8")
        worker = Path(__file__).parent / "chunking_worker.py"
        run_measured([python, worker, name, given, made])
        return json.loads(made.read_text(encoding="utf-8"))


def _print(reports: dict[str, dict[str, Any]]) -> None:
    table = Table("", *COUNTS.values(), "MB/s")
    for column in table.columns[1:]:
        column.justify = "right"
    table.columns[0].no_wrap = True
    for name, report in reports.items():
        counts = ["" if name in PARSERS else f"{report[key]:,}" for key in COUNTS]
        table.add_row(NAMES[name], *counts, f"{report['mb_per_second']:.2f}")
    console = Console()
    Console(width=max(console.width, 150)).print(table)


def judged(
    reports: dict[str, dict[str, Any]], pages: int, sites: int
) -> list[tuple[str, str, str, str]]:
    """Ours against the bars."""
    ours = reports["ours"]
    rows = [(COUNTS[name], str(ours[name]), "0", ours[name] == 0) for name in BARS]
    for name, parser in PARSERS.items():
        share = ours["mb_per_second"] / reports[name]["mb_per_second"]
        bar, is_met = "none", True
        if name == "markdown_it":
            bar, is_met = f">= {LEAST_SPEED:.0%}", share >= LEAST_SPEED
        rows.append((f"speed as a share of {parser}", f"{share:.0%}", bar, is_met))
    rows.append(("pages", str(pages), f">= {LEAST_PAGES}", pages >= LEAST_PAGES))
    rows.append(("sites", str(sites), f">= {LEAST_SITES}", sites >= LEAST_SITES))
    return [(name, measured, bar, _verdict(is_met)) for name, measured, bar, is_met in rows]


def hostile() -> list[tuple[str, str, str, str]]:
    """Five megabytes of each piece in one line, in lines of one piece, and of twenty."""
    rows = []
    for name, piece in HOSTILE.items():
        shapes = {"one line": piece, "lines of one": f"{piece}\n", "lines of 20": piece * 20 + "\n"}
        for shape, unit in shapes.items():
            command = [sys.executable, "-c", _TIMED, unit, str(HOSTILE_BYTES)]
            run = run_measured(command)
            seconds, resting_mb, begun, ended, chunks = map(float, run.output.split())
            grown_mb = max(0.0, run.peak_mb_between(begun, ended) - resting_mb)
            times = grown_mb * 1e6 / HOSTILE_BYTES
            limit = ONE_LINE_SECONDS if shape == "one line" else MANY_LINES_SECONDS
            is_met = seconds <= limit and times <= MEMORY_TIMES
            measured = f"{seconds:.1f} s, {times:.1f} times its memory, {chunks:.0f} chunks"
            bar = f"{limit} s, {MEMORY_TIMES} times"
            rows.append((f"{name}, {shape}", measured, bar, _verdict(is_met)))
            print(f"{name}, {shape}: {measured}", flush=True)
    return rows


def _verdict(is_met: bool) -> str:
    return "PASS" if is_met else "FAIL"


if __name__ == "__main__":
    main()
