"""The first screen: serve a built docs site, ingest it, ask questions with a known source.

    python -m qindex_pipeline.demo docs docs/demo_questions.jsonl

Exits with 1 when a first citation is not the expected page#anchor, or when a question that the
site does not answer gets an answer.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qindex_pipeline.console import ConsoleProgress, answer_lines
from qindex_pipeline.crawl.folder import served
from qindex_pipeline.errors import QIndexError, UsageError
from qindex_pipeline.ingest import ingest
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.query import QIndex
from qindex_pipeline.report import print_report
from qindex_pipeline.retrieval.result import Answer
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site

KEY = "demo"


@dataclass(frozen=True)
class Expectation:
    """A question and the page#anchor of its first citation; None: it is to be refused."""

    question: str
    expect: str | None


def run(folder: Path, questions: Path) -> int:
    """Serve, ingest and ask; the number of questions that went wrong."""
    expectations = read_expectations(questions)
    settings = Settings.from_env()
    write(resolve_models(settings).line)
    with served(folder) as base:
        progress = ConsoleProgress(sys.stdout)
        done = ingest(settings, Site(key=KEY, start_url=base, max_pages=100), progress)
        progress.close()
        print_report(done)
        index = QIndex(settings)
        wrong = sum([_ask(index, expected, base) for expected in expectations])
        index.close()
    write(f"{len(expectations) - wrong} of {len(expectations)} questions went as expected")
    return wrong


def read_expectations(file: Path) -> list[Expectation]:
    """The rows of a questions file. Raises UsageError naming the line that is malformed."""
    found: list[Expectation] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            found.append(Expectation(row["question"], row["expect"]))
        except (json.JSONDecodeError, KeyError, TypeError):
            raise UsageError(
                f'{file} line {number}: expected {{"question": …, "expect": page#anchor or null}}'
            ) from None
    return found


def problem(answer: Answer, expected: str | None, base: str) -> str | None:
    """What is wrong with an answer, or None."""
    if expected is None:
        return None if answer.refused else "an answer, though the site does not say"
    found = answer.citations[0].url.removeprefix(base) if answer.citations else "no answer"
    return None if found == expected else f"{found}, not {expected}"


def _ask(index: QIndex, expected: Expectation, base: str) -> bool:
    answer = index.ask(expected.question, KEY)
    write("", f"? {expected.question}", *answer_lines(answer))
    wrong = problem(answer, expected.expect, base)
    if wrong:
        write(f"WRONG: the first citation is {wrong}")
    return wrong is not None


def write(*lines: str) -> None:
    """Print lines at once, so that they stand in order among the progress."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """The command; its exit code."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m qindex_pipeline.demo FOLDER QUESTIONS.jsonl\n")
        return 2
    try:
        return 1 if run(Path(arguments[0]), Path(arguments[1])) else 0
    except QIndexError as error:
        sys.stderr.write(f"demo: {error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
