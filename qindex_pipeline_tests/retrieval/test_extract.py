"""The answerer without a model: it quotes whole blocks, word for word."""

import pytest

from qindex_pipeline.retrieval.extract import ExtractAnswerer
from qindex_pipeline.retrieval.result import Result


def result(text: str, rank: int = 1, evidence: str | None = None) -> Result:
    return Result(
        rank=rank,
        chunk_id=f"chunk-{rank}",
        site="docs",
        url=f"http://docs/{rank}",
        anchor=None,
        title="Guide",
        heading_path=[],
        text=text,
        matched_question=None,
        evidence=evidence,
        confidence=0.9,
        confident=True,
        score=1.0,
        legs={},
    )


def answer(question: str, *results: Result) -> str:
    return ExtractAnswerer().answer(question, results)


INSTALL = """\
The tool is free software.

To install the tool, run:

```sh
make build

make install
```

The tool was first released in 2010.
"""

OPTIONS = """\
## Verbose output

Use `-v` for more lines.

## Colours

Use `-c` for colours.
"""

TABLE = """\
Some words stand before it.

| option | meaning |
|---|---|
| `--depth` | history that a clone fetches |
| `--bare` | no working tree |
"""


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (
            "How do I install the tool?",
            INSTALL,
            "To install the tool, run:\n\n```sh\nmake build\n\nmake install\n```\n[1]",
        ),
        ("When was it first released?", INSTALL, "The tool was first released in 2010. [1]"),
        ("Which output is verbose?", OPTIONS, "Use `-v` for more lines. [1]"),
        ("Is there anything in colour?", OPTIONS, "Use `-c` for colours. [1]"),
        ("How deep is the history of a clone?", TABLE, TABLE.split("\n\n")[1] + "[1]"),
        ("What is this about?", "One line only.", "One line only. [1]"),
        ("What is this about?", "## A heading alone", "## A heading alone [1]"),
    ],
    ids=["code", "paragraph", "heading", "other heading", "table", "one block", "no block"],
)
def test_the_block_that_fits_the_question_is_quoted_whole(
    question: str, text: str, quote: str
) -> None:
    assert answer(question, result(text)) == quote


def test_the_block_with_the_matched_questions_evidence_is_worth_more() -> None:
    text = "Nothing about frobnication here.\n\nPress the red button."
    question = "How does frobnication stop?"
    assert answer(question, result(text)).startswith("Nothing about")
    with_evidence = answer(question, result(text, evidence="Press the red button"))
    assert with_evidence == "Press the red button. [1]"


def test_two_passages_are_quoted_at_most_each_with_its_number() -> None:
    results = [result(f"Passage number {rank}.", rank) for rank in (1, 2, 3)]
    quotes = answer("What?", *results)
    assert quotes == "Passage number 1. [1]\n\nPassage number 2. [2]"
