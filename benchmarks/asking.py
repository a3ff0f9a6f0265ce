"""How fast questions are asked for, and how much memory that takes.

    python benchmarks/asking.py [--seconds 0.5] [--concurrency 16]

A model on loopback answers each call after so many seconds, through the real SDK. Prints, for
200 and for 1,000 chunks, the time beside the ideal one (calls / concurrency x seconds), and the
peak memory; exits with 1 when 1,000 chunks take more than 1.15 times the ideal.
"""

import argparse
import json
import socket
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import Measured, print_table, run_measured

_HERE = Path(__file__).parent
COUNTS = (200, 1_000)
MOST_TIMES_IDEAL = 1.15


def main() -> None:
    """Measure both counts, each in a process of its own; print a row a count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=0.5, help="until a call is answered")
    parser.add_argument("--concurrency", type=int, default=16, help="calls in flight")
    parser.add_argument("--worker", nargs=2, metavar=("URL", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        url, count = options.worker
        ask(url, int(count), options.concurrency)
        return
    port = _free_port()
    command = [sys.executable, str(_HERE / "asking_server.py"), str(port), str(options.seconds)]
    server = subprocess.Popen(command)
    try:
        _wait_for(port)
        results = [_measured(port, count, options.concurrency) for count in COUNTS]
    finally:
        server.terminate()
        server.wait()
    rows: list[tuple[str, ...]] = []
    times = 0.0
    for count, (measured, took) in zip(COUNTS, results, strict=True):
        ideal = ceil(count / options.concurrency) * options.seconds
        times = took["seconds"] / ideal
        figures = (ideal, took["seconds"], times, took["cpu"], measured.peak_mb)
        rows.append((str(count), *(f"{figure:.2f}" for figure in figures)))
    header = ("chunks", "ideal s", "s", "times ideal", "CPU s", "peak MB")
    print_table(f"asking, {options.concurrency} calls in flight", header, rows)
    sys.exit(times > MOST_TIMES_IDEAL)


def ask(url: str, count: int, concurrency: int) -> None:
    """Ask about `count` chunks of the usual size; print what it took as JSON."""
    from qindex_pipeline.questions.asking.ledger import Ledger
    from qindex_pipeline.questions.asking.options import AskingOptions
    from qindex_pipeline.questions.generators.generator import Task
    from qindex_pipeline.questions.generators.opening import open_generator
    from qindex_pipeline.questions.proposing import propose_questions
    from qindex_pipeline.settings import Settings

    generator = open_generator("openai:gpt-4o-mini", Settings(openai_base_url=url))
    chunks = [_chunk(number) for number in range(count)]
    generator.generate(Task(chunks[0]))  # whatever the first call imports
    with TemporaryDirectory() as folder:
        started, cpu = time.monotonic(), time.process_time()
        proposed = propose_questions(
            chunks,
            generator,
            Ledger(Path(folder)),
            lambda: datetime.now(UTC),
            AskingOptions(concurrency=concurrency),
        )
        took = {"seconds": time.monotonic() - started, "cpu": time.process_time() - cpu}
    assert proposed.calls == count
    print(json.dumps(took))


def _chunk(number: int) -> dict[str, Any]:
    text = f"The settings of release {number} stand in the configuration directory. " * 12
    return {
        "site": "docs",
        "chunk_id": str(number),
        "title": "Guide",
        "heading_path": ["Setup"],
        "text": text,
        "lang": "en",
    }


def _measured(port: int, count: int, concurrency: int) -> tuple[Measured, dict[str, float]]:
    url = f"http://127.0.0.1:{port}/v1"
    worker = ["--worker", url, str(count), "--concurrency", str(concurrency)]
    measured = run_measured([sys.executable, str(Path(__file__)), *worker])
    return measured, json.loads(measured.output)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(port: int) -> None:
    for _ in range(500):
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    sys.exit(f"the model on port {port} did not start")


if __name__ == "__main__":
    main()
