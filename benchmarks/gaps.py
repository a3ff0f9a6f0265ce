"""What the gap report makes of 500 asks on git's manual, of which it is known what is answered.

    python benchmarks/gaps.py FOLDER [--git-data FOLDER] [--stl-data FOLDER]

The asks are made with the query log on, in turn with an index without one: git's 112 questions,
their keyword forms, what its manual does not answer, questions about other subjects, and some of
all once more. Their times are then spread over four weeks. Report and picture go to FOLDER.
False gaps are also counted on the STL site's and rag_docs' own questions, which their docs all
answer. Labels: `eval/` below QINDEX_SHARED (default `../shared`).
"""

import argparse
import random
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from git_doc import read_rows as read_objects
from measure import print_table, seconds_of
from retrieval_sets import add_data_options, git_data, only_offline, rag_docs, stl_data

from qindex_pipeline.gaps.doubts import doubt
from qindex_pipeline.gaps.finding import Embedding, find_gaps, site_bands
from qindex_pipeline.gaps.gap import Gap, GapReport
from qindex_pipeline.gaps.kept import keep
from qindex_pipeline.gaps.picture import picture_png
from qindex_pipeline.gaps.vocabulary import Vocabulary
from qindex_pipeline.gaps.wording import report_markdown, summary
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.query import QIndex
from qindex_pipeline.query_log import segments
from qindex_pipeline.query_log.folders import LocalFolder
from qindex_pipeline.retrieval.calibration import foreign_questions
from qindex_pipeline.retrieval.evaluation.arms import ARMS, confidence, shown
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS

DATA = Path(__file__).parents[1] / "qindex_pipeline_tests" / "data"
ASKS, DAYS = 500, 28
LAST_DAY = datetime(2026, 3, 28, tzinfo=UTC)

Row = Mapping[str, Any]


def main() -> None:
    """Ask, report, and print what the report is worth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="where report and picture are written")
    add_data_options(parser)
    options = parser.parse_args()
    only_offline()
    kinds = _questions(options.shared / "eval")
    with TemporaryDirectory() as made:
        scratch = Path(made)
        asked = _five_hundred(kinds)
        print_table("the asks", ("", "different"), [(name, len(of)) for name, of in kinds.items()])
        log = _logged(git_data(options), asked, scratch / "log")
        report, embedding = _reported(git_data(options), log, scratch, options.folder)
        _print_worth(report, kinds)
        _print_held_out(git_data(options), embedding)
        _print_false_gaps(options, scratch)


def _questions(folder: Path) -> dict[str, list[str]]:
    """The questions by kind; the first two kinds are answered by git's manual."""
    unanswerable = read_objects(folder / "git_unanswerable.jsonl")
    return {
        "git's questions": [
            row["question"] for row in read_objects(folder / "git_questions.jsonl")
        ],
        "keyword forms": [
            row["keywords"] for row in read_objects(DATA / "git_keyword_forms.jsonl")
        ],
        "near": [row["question"] for row in unanswerable if row["kind"] == "near"],
        "far": [row["question"] for row in unanswerable if row["kind"] == "far"],
        "foreign": list(foreign_questions()),
    }


def _five_hundred(kinds: Mapping[str, Sequence[str]]) -> list[str]:
    draw = random.Random(1)
    asked = [question for questions in kinds.values() for question in questions]
    asked += draw.choices(asked, k=ASKS - len(asked))
    draw.shuffle(asked)
    return asked


def _logged(data: Path, asked: Sequence[str], log: Path) -> str:
    """Ask with and without a log, in turn, and spread the asks over the weeks; where they lie."""
    written = log / "written"
    silent = QIndex(Settings(profile="offline", data=str(data)))
    logging = QIndex(Settings(profile="offline", data=str(data), query_log=str(written)))
    for index in (silent, logging):
        index.ask(asked[0])  # opens the models
    spent = {silent: 0.0, logging: 0.0}
    for number, question in enumerate(asked):
        for index in (silent, logging) if number % 2 else (logging, silent):
            started = time.perf_counter()
            index.ask(question, "git")
            spent[index] += time.perf_counter() - started
    closing = seconds_of(logging.close)
    silent.close()
    print_table(
        "asking",
        ("", "seconds an ask", "ratio"),
        [
            ("without a log", spent[silent] / len(asked), ""),
            ("with a log", spent[logging] / len(asked), spent[logging] / spent[silent]),
        ],
    )
    print(f"  the last rows were written in {closing:.2f} s at close")
    folder = LocalFolder(written)
    days = [segments.last_day(folder, datetime.now(UTC).date())]
    assert days[0] is not None
    rows = segments.read(folder, segments.days_before(days[0], 2), days[0])[1:]  # but the opener
    draw = random.Random(2)
    spread = [
        {**row, "asked_at": LAST_DAY - timedelta(days=draw.uniform(-0.99, DAYS - 1.01))}
        for row in rows
    ]
    segments.write(LocalFolder(log / "spread"), spread)
    return str(log / "spread")


def _reported(data: Path, log: str, scratch: Path, folder: Path) -> tuple[GapReport, Embedding]:
    """The report, made twice: the second time every vector is there."""
    settings = Settings(profile="offline", data=str(data), state=scratch / "state", query_log=log)
    tools = Pipeline(settings, {}, site="git")
    embedding = Embedding(
        tools.query_vectors, tools.fingerprint.digest, tools.models.confidence_threshold
    )
    seconds: list[float] = []
    reports: list[GapReport] = []
    for _ in range(2):
        started = time.perf_counter()
        reports.append(find_gaps(settings, "git", embedding, DAYS))
        seconds.append(time.perf_counter() - started)
    report = reports[0]
    started = time.perf_counter()
    picture = picture_png(report)
    text = report_markdown(report, "git.png" if picture else None)
    file = keep(folder, "git", text, picture)
    drawn = time.perf_counter() - started
    print_table(
        "the report",
        ("", "seconds"),
        [("first", seconds[0]), ("again, nothing embedded", seconds[1]), ("picture, text", drawn)],
    )
    print(f"  the same both times: {reports[0] == reports[1]}; {file}")
    print(f"  {summary(report)}")
    return report, embedding


def _print_worth(report: GapReport, kinds: Mapping[str, Sequence[str]]) -> None:
    answered = {*kinds["git's questions"], *kinds["keyword forms"]}
    foreign = {*kinds["foreign"]}
    parts = {
        "gaps": report.gaps,
        "other subjects": report.off_topic,
        "both": (*report.gaps, *report.off_topic),
    }
    rows: list[tuple[object, ...]] = []
    for name, gaps in parts.items():
        asked = [question for gap in gaps for question in _asked(gap)]
        wrong = sum(question in answered for question in asked)
        bad = sum(_is_mostly(_asked(gap), answered) for gap in gaps)
        about = len(asked) - sum(question in foreign for question in asked)
        rows.append(
            (
                *(name, len(gaps), 1 - bad / len(gaps), len(asked), 1 - wrong / len(asked)),
                *(about, 1 - wrong / about if about else ""),
            )
        )
    header = (
        *("", "clusters", "precision", "questions", "precision"),
        *("without foreign", "precision"),
    )
    print_table("what git's manual does not answer: precision of the report", header, rows)
    found = {name: {q for gap in gaps for q in _asked(gap)} for name, gaps in parts.items()}
    print_table(
        "where the questions stand",
        ("", "n", "in a gap", "other subjects", "share in either"),
        [
            (
                kind,
                len(questions),
                sum(question in found["gaps"] for question in questions),
                sum(question in found["other subjects"] for question in questions),
                sum(question in found["both"] for question in questions) / len(questions),
            )
            for kind, questions in kinds.items()
        ],
    )
    for gap in report.gaps:
        for question in answered.intersection(_asked(gap)):
            print(f"  false gap: {question} ({gap.reason}; {gap.confidence:.3f})")


def _print_held_out(data: Path, embedding: Embedding) -> None:
    """Doubts about foreign keyword queries, which nothing was calibrated with."""
    store = ParquetStore(str(data))
    vocabulary = Vocabulary(store.read(CHUNKS, "git").to_pylist())
    bands = site_bands(store, "git", embedding)
    index = QIndex(Settings(profile="offline", data=str(data)))
    foreign = (DATA / "foreign_keyword_forms.txt").read_text(encoding="utf-8").splitlines()
    rows = [_row(index, question, "git") for question in foreign]
    index.close()
    passed = [row for row in rows if not row["refused"]]
    doubted = sum(doubt(row, vocabulary, bands) is not None for row in passed)
    assert bands is not None
    print(f"\n  git's even point: {bands.even:.3f}; half of the strangers: {bands.strange:.3f}")
    print(
        f"  foreign keyword queries: {len(rows)}, refused {len(rows) - len(passed)}, doubted "
        f"{doubted} of the other {len(passed)}"
    )


def _print_false_gaps(options: argparse.Namespace, scratch: Path) -> None:
    """Doubts about questions that other docs answer: each is a false gap, refused or not."""
    stl = stl_data(options)
    store = ParquetStore(str(stl))
    settings = Settings(profile="offline", data=str(stl), state=scratch / "stl")
    tools = Pipeline(settings, {}, site="stl")
    embedding = Embedding(tools.query_vectors, tools.fingerprint.digest, 0.4)
    index = QIndex(Settings(profile="offline", data=str(stl)))
    own = read_objects(options.shared / "eval/stl_seed_queries.jsonl")
    asked = [_row(index, row["question"], "stl") for row in own]
    index.close()
    vocabulary = Vocabulary(store.read(CHUNKS, "stl").to_pylist())
    bands = site_bands(store, "stl", embedding)
    table = [("stl", *_doubted(asked, vocabulary, bands))]
    corpus = rag_docs(options.shared, options.cache)
    pages = {row["label"]: row["label"].partition("#")[0] for row in corpus.documents}
    words = Vocabulary(
        {
            "url": pages[row["label"]],
            "title": row["title"],
            "heading_path": [],
            "text": row["text"],
            "lang": "en",
        }
        for row in corpus.documents
    )
    rows = [
        {
            "question": question,
            "confidence": confidence(hits, 3),
            "refused": confidence(hits, 3) < 0.4,
            "pages": (near := [pages[corpus.labels[c]] for c in shown(ARMS["fused"], hits)[:3]]),
            "nearest": near[0],
        }
        for question, hits in zip(corpus.questions, corpus.found.hits, strict=True)
    ]
    table.append(("rag_docs", *_doubted(rows, words, None)))
    header = ("", "questions", "refused", "in doubt besides")
    print_table("questions that their docs answer", header, table)


def _doubted(rows: Sequence[Row], words: Vocabulary, bands: Any) -> tuple[int, int, int]:
    refused = sum(row["refused"] for row in rows)
    doubted = sum(doubt(row, words, bands) is not None for row in rows if not row["refused"])
    return len(rows), refused, doubted


def _row(index: QIndex, question: str, site: str) -> dict[str, Any]:
    """What the log would hold of an ask without a text."""
    answer = index.ask(question, site, write_answer=False)
    return {
        "question": question,
        "confidence": max((result.confidence for result in answer.results), default=None),
        "refused": answer.refused,
        "pages": [result.url for result in answer.passing],
        "nearest": answer.results[0].url if answer.results else None,
    }


def _asked(gap: Gap) -> list[str]:
    return [gap.question, *gap.others]


def _is_mostly(asked: Iterable[str], among: Collection[str]) -> bool:
    known = [question in among for question in asked]
    return 2 * sum(known) > len(known)


if __name__ == "__main__":
    main()
