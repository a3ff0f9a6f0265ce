"""A program that asks a growing index all the time, as a chatbot would.

    python backfill_asker.py QUESTIONS.json AT_LEAST PAUSE

Waits for the first index, then asks one question after the other until its standard input has
ended and AT_LEAST were asked. Prints its figures as JSON.
"""

import json
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

from qindex_pipeline.errors import WorkError
from qindex_pipeline.query import QIndex

OPEN_EVERY = 20
"""Every so many questions a new QIndex asks, which opens the index while it changes."""


def main() -> None:
    """Ask until the backfill is over."""
    questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    at_least, pause = int(sys.argv[2]), float(sys.argv[3])
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    json.dump(_ask(questions, at_least, pause, over), sys.stdout)


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _ask(questions: list[str], at_least: int, pause: float, over: threading.Event) -> Any:
    chance, errors = random.Random(7), list[str]()
    held, opened, during = list[float](), list[float](), 0
    index = _first_index(questions[0], over)
    while not over.is_set() or len(held) + len(opened) < at_least:
        opens = (len(held) + len(opened)) % OPEN_EVERY == 0
        started = time.perf_counter()
        try:
            index = QIndex.from_env() if opens else index
            index.ask(chance.choice(questions))
        except Exception as error:  # whatever it is: it is what this program looks for
            errors.append(f"{type(error).__name__}: {error}")
        (opened if opens else held).append(time.perf_counter() - started)
        during += not over.is_set()
        time.sleep(pause)
    return {"held": held, "opened": opened, "during": during, "errors": errors}


def _first_index(question: str, over: threading.Event) -> QIndex:
    index = QIndex.from_env()
    while True:
        try:
            index.ask(question)
        except WorkError as error:
            if "there is no index" not in str(error) or over.is_set():
                raise
            time.sleep(0.5)
        else:
            return index


if __name__ == "__main__":
    main()
