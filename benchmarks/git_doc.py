"""The whole line on git's manual: what an ingest takes, what asking takes, what is found.

    python benchmarks/git_doc.py [--docs FOLDER] [--max-pages N] [--json FILE]

Serves the HTML of the Debian package `git-doc` on loopback, ingests it twice with the offline
profile into a temporary folder, and asks the questions of `eval/git_questions.jsonl` below
QINDEX_SHARED (default `../shared`). Wall times depend on who else uses the machine; that is
why CPU seconds stand beside them.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import unquote, urlsplit

from measure import Measured, percentile, print_table, run_measured, seconds_of

from qindex_pipeline.crawl.folder import served
from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS, Leg, ask_legs
from qindex_pipeline.retrieval.opening import index_embedder, open_collection

SITE = "git"
STAGES = (
    "raw_pages",
    "chunks",
    "candidate_questions",
    "grounded_questions",
    "embeddings",
    "question_index",
)
ARMS: dict[str, Sequence[Leg]] = {
    "passage": ("passage",),
    "question": ("question",),
    "bm25": ("bm25",),
    "fused": LEGS,
}
THRESHOLD = 0.40
"""The offline profile's threshold before a site is calibrated."""
RANKED = 50
"""Chunks of which the distinct pages are counted."""
TIMED, COLD_RUNS = 50, 5

QINDEX = Path(sys.executable).with_name("qindex")
IMPORT_QUERY = (
    "import time; started = time.perf_counter(); import qindex_pipeline.query; "
    "print(time.perf_counter() - started)"
)

Row = dict[str, Any]
Report = dict[str, Any]


@dataclass(frozen=True)
class Ingest:
    """One ingest: the process, each stage's (start, end) as Unix times, and its numbers."""

    process: Measured
    steps: Mapping[str, tuple[float, float]]
    numbers: Mapping[str, Mapping[str, Any]]


def main() -> None:
    """Run everything and print the tables."""
    shared = Path(os.environ.get("QINDEX_SHARED", "../shared")).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc/git/html"))
    parser.add_argument("--max-pages", type=int, default=400)
    parser.add_argument("--json", type=Path, help="write all figures here too")
    options = parser.parse_args()
    questions = read_rows(shared / "eval/git_questions.jsonl")
    unanswerable = read_rows(shared / "eval/git_unanswerable.jsonl")
    with tempfile.TemporaryDirectory(prefix="qindex-git-doc-") as folder:
        use_only(Path(folder))
        report: Report = {"machine": machine()}
        print(f"{report['machine']}\n{options.docs}, at most {options.max_pages} pages")
        with served(options.docs) as base:
            first, second = (ingest(base, options.max_pages, Path(folder)) for _ in range(2))
        report |= {"first": ingest_figures(first), "unchanged": ingest_figures(second)}
        print_ingest("first ingest", report["first"])
        print_ingest("second ingest, nothing changed", report["unchanged"])
        report["asking"] = asking(questions)
        print_asking(report["asking"])
        report["retrieval"] = retrieval(questions, page_names(options.docs))
        print_retrieval(report["retrieval"], len(questions))
        report["refusal"] = refusal(questions, unanswerable)
        print_table(
            f"refused at {THRESHOLD:.2f}", ("", "refused", "of"), list(report["refusal"].values())
        )
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def read_rows(file: Path) -> list[Row]:
    """The rows of a JSON-lines file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def use_only(folder: Path) -> None:
    """Give this process and its children the offline profile, a data folder and nothing else."""
    foreign = ("QINDEX_", "QDRANT_", "OPENAI_", "ANTHROPIC_", "DAGSTER_")
    for name in [name for name in os.environ if name.startswith(foreign)]:
        del os.environ[name]
    # Where compiled modules may not be kept, every start would compile the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    home = folder / "dagster"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n", encoding="utf-8")
    os.environ |= {
        "QINDEX_PROFILE": "offline",
        "QINDEX_DATA": str(folder / "data"),
        "QINDEX_SITES": str(folder / "sites.yaml"),
        "DAGSTER_HOME": str(home),
    }


def machine() -> str:
    """What a reader of the figures must know of the machine, with the load at the start."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {version}"


def ingest(base: str, max_pages: int, folder: Path) -> Ingest:
    """Run `qindex ingest` as a process and read what Dagster stored of its run."""
    import dagster as dg

    command = [QINDEX, "--quiet", "ingest", base, str(max_pages), "--site", SITE]
    process = run_measured(command)
    with dg.DagsterInstance.from_config(str(folder / "dagster")) as instance:
        run_id = instance.get_run_records(limit=1)[0].dagster_run.run_id
        steps = {
            step.step_key: (step.start_time or 0.0, step.end_time or 0.0)
            for step in instance.get_run_step_stats(run_id)
        }
        numbers = {stage: _metadata(instance, stage) for stage in STAGES}
    return Ingest(process, steps, numbers)


def _metadata(instance: Any, stage: str) -> Mapping[str, Any]:
    import dagster as dg

    event = instance.get_latest_materialization_event(dg.AssetKey(stage))
    plain = (int, float, str, bool)
    values = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    return {name: value for name, value in values.items() if isinstance(value, plain)}


def ingest_figures(done: Ingest) -> Report:
    """Counts, seconds and memory a stage, and the process's own figures."""
    process = done.process
    stages = {
        stage: {
            "seconds": end - start,
            "cpu_seconds": process.cpu_between(start, end),
            "peak_mb": process.peak_mb_between(start, end),
        }
        for stage, (start, end) in ((stage, done.steps[stage]) for stage in STAGES)
    }
    inside, inside_cpu = (
        sum(stage[unit] for stage in stages.values()) for unit in ("seconds", "cpu_seconds")
    )
    stages["start and end"] = {
        "seconds": process.seconds - inside,
        "cpu_seconds": process.cpu_seconds - inside_cpu,
    }
    stages["process"] = {
        "seconds": process.seconds,
        "cpu_seconds": process.cpu_seconds,
        "peak_mb": process.peak_mb,
    }
    return {"stages": stages, "numbers": dict(done.numbers)}


def print_ingest(title: str, figures: Report) -> None:
    """Print the counts and the seconds of one ingest."""
    numbers = figures["numbers"]
    pages, judged, embedded, index = (
        numbers[stage]
        for stage in ("raw_pages", "grounded_questions", "embeddings", "question_index")
    )
    counts = [
        *((f"pages {name}", count) for name, count in _below("outcome/", pages)),
        ("chunks", numbers["chunks"]["chunks"]),
        ("questions proposed", numbers["candidate_questions"]["questions"]),
        *((f"  rejected, {name}", count) for name, count in _below("rejected/", judged)),
        ("questions accepted", judged["accepted"]),
        ("vectors", index["points"]),
        ("  of passages", embedded["passages"]),
        ("  of questions", embedded["questions"]),
        ("texts embedded", judged["texts_embedded"] + embedded["texts_embedded"]),
        ("points written", index["points_written"]),
    ]
    print_table(title, ("", "count"), counts)
    rows = [
        (name, f"{stage['seconds']:.1f}", f"{stage['cpu_seconds']:.1f}", _megabytes(stage))
        for name, stage in figures["stages"].items()
    ]
    print_table(f"{title}: a stage", ("", "wall s", "CPU s", "peak RSS MB"), rows)


def _megabytes(stage: Mapping[str, float]) -> str:
    return f"{stage['peak_mb']:.0f}" if "peak_mb" in stage else ""


def _below(prefix: str, numbers: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        (name.removeprefix(prefix), count)
        for name, count in numbers.items()
        if name.startswith(prefix)
    ]


def asking(questions: Sequence[Row]) -> Report:
    """Seconds of `ask` without an answer: in one process, its parts, cold, and the import."""
    texts = [row["question"] for row in questions[:TIMED]]
    cold = [
        run_measured([QINDEX, "ask", text, "--site", SITE, "--no-answer"])
        for text in texts[:COLD_RUNS]
    ]
    imports = [
        float(run_measured([sys.executable, "-c", IMPORT_QUERY]).output) for _ in range(COLD_RUNS)
    ]
    with closing(QIndex.from_env()) as index:
        opening = seconds_of(lambda: index.ask(texts[0], SITE, write_answer=False))
        warm = timed_asks(index, texts)
    return {
        "first ask in a process": [opening],
        **warm,
        "cold `qindex ask --no-answer`": [run.seconds for run in cold],
        "  its CPU seconds": [run.cpu_seconds for run in cold],
        "import qindex_pipeline.query": imports,
    }


def timed_asks(index: QIndex, texts: Sequence[str]) -> dict[str, list[float]]:
    """Seconds of `ask` for each text, and right after it of each step that it takes."""
    from qindex_pipeline.index.sparse import Bm25Model
    from qindex_pipeline.settings import Settings

    settings = Settings.from_env()
    collection, models = open_collection(settings)
    embedder, bm25 = index_embedder(collection.manifest, models, settings), Bm25Model()
    embedder.embed_queries(texts[:1])
    times: dict[str, list[float]] = {"ask": [], "  embed": [], "  search": [], "  merge": []}
    for text in texts:
        moments = [time.perf_counter()]
        index.ask(text, SITE, write_answer=False)
        moments.append(time.perf_counter())
        vector, sparse = embedder.embed_queries([text])[0].tolist(), bm25.query(text)
        moments.append(time.perf_counter())
        hits = ask_legs(collection, LEGS, vector, sparse, SITE)
        moments.append(time.perf_counter())
        fuse(hits, LEGS)
        moments.append(time.perf_counter())
        for seconds, start, end in zip(times.values(), moments, moments[1:], strict=False):
            seconds.append(end - start)
    collection.close()
    return times


def print_asking(figures: Mapping[str, Sequence[float]]) -> None:
    """Print median and 95th percentile in milliseconds."""
    rows = [
        (
            name,
            len(values),
            f"{median(values) * 1000:.1f}",
            f"{percentile(values, 0.95) * 1000:.1f}",
        )
        for name, values in figures.items()
    ]
    print_table("asking: milliseconds", ("", "runs", "median", "p95"), rows)


def page_names(docs: Path) -> Callable[[str], str]:
    """From a result's URL to the page as the labels name it: its file, links resolved."""

    def name(url: str) -> str:
        return (docs / (unquote(urlsplit(url).path).lstrip("/") or "index.html")).resolve().name

    return name


def retrieval(questions: Sequence[Row], page_of: Callable[[str], str]) -> Report:
    """Rank of the first right page for each question, by arm; None where it is not found."""
    ranks: dict[str, dict[str, int | None]] = {arm: {} for arm in ARMS}
    with closing(QIndex.from_env()) as index:
        for row, (arm, legs) in product(questions, ARMS.items()):
            answer = index.ask(row["question"], SITE, RANKED, legs=legs, write_answer=False)
            pages = dict.fromkeys(page_of(result.url) for result in answer.results)
            right = {row["page"], *row["also"]}
            found = (rank for rank, page in enumerate(pages, start=1) if page in right)
            ranks[arm][row["id"]] = next(found, None)
    return {arm: {**scores(list(found.values())), "ranks": found} for arm, found in ranks.items()}


def scores(ranks: Sequence[int | None]) -> dict[str, float]:
    """Page hits and mean reciprocal rank within the first ten."""
    known = [rank for rank in ranks if rank is not None]
    hits = {f"hit@{k}": sum(rank <= k for rank in known) / len(ranks) for k in (1, 3, 10)}
    return hits | {"mrr@10": sum(1 / rank for rank in known if rank <= 10) / len(ranks)}


def print_retrieval(figures: Mapping[str, Mapping[str, Any]], count: int) -> None:
    """Print one line an arm."""
    names = ("hit@1", "hit@3", "hit@10", "mrr@10")
    rows = [(arm, *(found[name] for name in names)) for arm, found in figures.items()]
    print_table(f"retrieval: right page, {count} questions", ("arm", *names), rows)


def refusal(questions: Sequence[Row], unanswerable: Sequence[Row]) -> Report:
    """(group, refused, asked) for what git's manual answers and for what it does not."""
    groups = {"answerable": list(questions)}
    for row in unanswerable:
        groups.setdefault(f"unanswerable, {row['kind']}", []).append(row)
    with closing(QIndex.from_env()) as index:

        def is_refused(row: Row) -> bool:
            question = row["question"]
            return index.ask(question, SITE, threshold=THRESHOLD, write_answer=False).refused

        return {
            name: (name, sum(map(is_refused, rows)), len(rows)) for name, rows in groups.items()
        }


if __name__ == "__main__":
    main()
