"""The evaluation page: measured once, written from the stored results.

    python benchmarks/evaluation_page.py [--measure] [--cache FOLDER]

Writes docs/evaluation.md and its figures from docs/evaluation.json. With --measure the results
are measured anew first: git's manual is ingested (Debian package `git-doc`), the STL site and
rag_docs are read from QINDEX_SHARED (default `../shared`), LlamaIndex is installed in an
environment of its own; about a quarter of an hour where the cache folder is empty.
"""

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.results import Results
from evaluation.writing.advice import advice_parts
from evaluation.writing.arms import arm_parts
from evaluation.writing.costs import cost_parts
from evaluation.writing.figures import FIGURES
from evaluation.writing.gains import gain_parts
from evaluation.writing.method import method_parts
from evaluation.writing.refusals import refusal_parts

DOCS = Path(__file__).parents[1] / "docs"
STORED, PAGE = "evaluation.json", "evaluation.md"
TEMPLATE = Path(__file__).parent / "evaluation" / "writing" / "page.md.template"

PARTS = (advice_parts, gain_parts, arm_parts, cost_parts, refusal_parts, method_parts)


def main() -> None:
    """Measure where that is wished, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--measure", action="store_true", help="measure the results anew first")
    parser.add_argument("--cache", type=Path, help="indexes, vectors, the peer's environment")
    options = parser.parse_args()
    if options.measure:
        from evaluation.measuring.everything import measured

        (DOCS / STORED).write_text(dumped(measured(options.cache)) + "\n", encoding="utf-8")
    for name, text in written(Results.read(DOCS / STORED)).items():
        (DOCS / name).write_text(text, encoding="utf-8")


def written(results: Results) -> dict[str, str]:
    """The page and its figures by file name; equal results give equal bytes."""
    return {PAGE: page(results), **{name: made(results) for name, made in FIGURES.items()}}


def page(results: Results) -> str:
    """The page in markdown: the template with each `{{part}}` filled in."""
    parts = {name: text for made in PARTS for name, text in made(results)}
    template = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def dumped(value: Any, indent: str = "") -> str:
    """JSON with a line for each list, so that a difference can be read."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent} "
    lines = [f"{inner}{json.dumps(key)}: {dumped(each, inner)}" for key, each in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


if __name__ == "__main__":
    main()
