"""How long a question takes at 10,000 and 100,000 vectors, beside LlamaIndex and local mode.

    python benchmarks/speed.py [--count N] [--rounds N] [--git-data FOLDER] [--without PEER]

Builds the collections of `speed_points.py` in a temporary folder and asks git's real questions
(QINDEX_SHARED, default ../shared): `ask --no-answer` through QIndex, before and after the
embedded engine has built its vector index; LlamaIndex's VectorStoreIndex with the same embedder
and vectors; and qdrant-client's local mode, asked the same legs. Each is asked in a
process of its own, once a round; a figure is the median of the rounds. Exit code 1 when a floor is
missed.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from measure import percentile, print_table, run_measured
from retrieval import peer_python
from retrieval_sets import GIT_DOC, GIT_PAGES, ingest_folder

HERE = Path(__file__).parent
COUNTS = (10_000, 100_000)
BEFORE, AFTER, SITE = "QIndex, no vector index", "QIndex", "QIndex, one site"
LLAMA, LOCAL = "LlamaIndex", "qdrant-client local"
PARTS = ("ask", "embed", "search", "merge", "search + merge", "its CPU")
FLOORS_MS = {BEFORE: 60.0, AFTER: 5.0}
"""Search and merge of a question at 100,000 vectors, p50."""
FLOOR_OPEN = 1.0
"""Seconds."""

Figures = Mapping[str, Any]


def main() -> None:
    """Build, ask, print; exit with 1 when a floor is missed."""
    options = _options()
    data = options.git_data or ingest_folder(GIT_DOC, "git", GIT_PAGES, options.cache)
    rows = (options.shared / "eval/git_questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(row)["question"] for row in rows]
    missed: list[str] = []
    for count in options.count or COUNTS:
        with tempfile.TemporaryDirectory(prefix="qindex-speed-") as folder:
            request = {
                "data": str(data.resolve()),
                "folder": folder,
                "count": count,
                "questions": questions,
            }
            measured = measure_all(request, options)
        print_figures(count, measured)
        if count == max(COUNTS):
            missed += floors_missed(measured)
    for line in missed:
        print(f"missed: {line}")
    sys.exit(bool(missed))


def measure_all(request: dict[str, Any], options: argparse.Namespace) -> dict[str, Figures]:
    """Figures by system."""
    ours = [sys.executable, HERE / "speed_worker.py"]
    found: dict[str, Figures] = {}
    run([*ours, "build", "qindex"], request)
    found[BEFORE] = rounds([*ours, "ask", "qindex"], request, options.rounds)
    built = run([*ours, "optimise", "qindex"], request)
    print(
        f"{request['count']} vectors: the vector index took {built['seconds']:.0f} s, "
        f"{built['cpu_seconds']:.0f} CPU s, peak {built['peak']:.0f} MB"
    )
    found[AFTER] = rounds([*ours, "ask", "qindex"], request, options.rounds)
    found[SITE] = rounds([*ours, "ask", "qindex"], request | {"site": "git"}, options.rounds)
    if "local" not in options.without:
        run([*ours, "build", "local"], request)
        found[LOCAL] = rounds([*ours, "ask", "local"], request, 1)
    if "llama" not in options.without:
        theirs = [peer_python(options.cache), HERE / "speed_llama.py"]
        run([*theirs, "build"], request)
        found[LLAMA] = rounds([*theirs, "ask"], request, options.rounds)
    return found


def rounds(command: Sequence[str | Path], request: Mapping[str, Any], count: int) -> Figures:
    """Milliseconds by part and percentile, and the rest, as medians of `count` processes."""
    runs = [parts_of(run(command, request)) for _ in range(count)]
    return {
        name: median(run[name] for run in runs) if name != "top" else value
        for name, value in runs[0].items()
    }


def run(command: Sequence[str | Path], request: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker prints, and its peak memory in 10^6 bytes."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(request, file)
        file.flush()
        measured = run_measured([*command, file.name])
    return json.loads(measured.output.splitlines()[-1]) | {"peak": measured.peak_mb}


def parts_of(figures: Figures) -> dict[str, Any]:
    """Percentiles of each part; merge is what is neither embedding nor searching."""
    triples = list(zip(figures["ask"], figures["embed"], figures["search"], strict=True))
    seconds = {
        "ask": figures["ask"],
        "embed": figures["embed"],
        "search": figures["search"],
        "merge": [ask - embed - search for ask, embed, search in triples],
        "search + merge": [ask - embed for ask, embed, _ in triples],
        "its CPU": figures["cpu"],
    }
    found: dict[str, Any] = {name: figures[name] for name in ("open", "memory", "peak", "top")}
    for part, values in seconds.items():
        found[f"{part} p50"] = 1000 * percentile(values, 0.5)
        found[f"{part} p95"] = 1000 * percentile(values, 0.95)
    return found


def print_figures(count: int, measured: Mapping[str, Figures]) -> None:
    """One table: milliseconds, seconds, 10^6 bytes, and each as a multiple of ours."""
    base = measured[AFTER]["search + merge p50"]
    rows = [
        (
            name,
            *(f"{found[f'{part} p50']:.1f}/{found[f'{part} p95']:.1f}" for part in PARTS),
            f"{found['search + merge p50'] / base:.1f}",
            f"{found['open']:.2f}",
            f"{found['memory']:.0f}",
            f"{found['peak']:.0f}",
        )
        for name, found in measured.items()
    ]
    header = ("", *PARTS, "x", "open s", "MB", "peak MB")
    load = os.getloadavg()[1]
    title = f"{count} vectors, ms p50/p95; x: search + merge p50 beside ours; load {load:.1f}"
    print_table(title, header, rows)
    pairs = zip(measured[BEFORE]["top"], measured[AFTER]["top"], strict=True)
    shares = [len(set(exact) & set(found)) / len(exact) for exact, found in pairs if exact]
    print(
        f"of the three first results without a vector index, {sum(shares) / len(shares):.1%} stay"
    )


def floors_missed(measured: Mapping[str, Figures]) -> list[str]:
    """A line for each floor that a figure misses."""
    lines = [
        f"{name}: search + merge {measured[name]['search + merge p50']:.1f} ms, floor {floor} ms"
        for name, floor in FLOORS_MS.items()
        if measured[name]["search + merge p50"] > floor
    ]
    lines += [
        f"{name}: open {measured[name]['open']:.2f} s, floor {FLOOR_OPEN} s"
        for name in FLOORS_MS
        if measured[name]["open"] > FLOOR_OPEN
    ]
    return lines


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    cache = os.environ.get("QINDEX_BENCHMARK_CACHE")
    folder = Path(cache or Path(tempfile.gettempdir()) / "qindex-benchmark") / "retrieval"
    parser.add_argument("--count", type=int, action="append", help="vectors; repeatable")
    parser.add_argument("--rounds", type=int, default=3, help="processes that are asked")
    parser.add_argument("--git-data", type=Path, help="QINDEX_DATA that holds the site git")
    parser.add_argument("--without", action="append", default=[], choices=("local", "llama"))
    parser.add_argument("--cache", type=Path, default=folder, help="the site, the environment")
    options = parser.parse_args()
    options.shared = Path(os.environ.get("QINDEX_SHARED", "../shared")).resolve()
    return options


if __name__ == "__main__":
    main()
