"""The answerer without a model: it quotes whole blocks, word for word."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.answering.answerer import Cited
from qindex_pipeline.retrieval.answering.extract import WHOLE_WORDS, ExtractAnswerer
from qindex_pipeline.retrieval.result import Result


def result(text: str, rank: int = 1, evidence: str | None = None, **values: Any) -> Result:
    made = Result(
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
        legs={"question": 0.9},
    )
    return replace(made, **values)


def answer(question: str, *results: Result) -> str:
    """The whole answer; a citation shows as the number that the answerer gave it."""
    parts = ExtractAnswerer().stream(question, results)
    return "".join(f"[{part.number}]" if isinstance(part, Cited) else str(part) for part in parts)


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


def test_three_passages_are_quoted_at_most_each_with_its_number() -> None:
    results = [result(f"Passage number {rank}.", rank) for rank in (1, 2, 3, 4)]
    quotes = answer("Which passage?", *results)
    assert quotes == "Passage number 1. [1]\n\nPassage number 2. [2]\n\nPassage number 3. [3]"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [("Something else altogether.", 0.9), ("Run the lantern every night.", 0.6)],
    ids=["fits the question less", "is less sure"],
)
def test_a_passage_far_behind_the_first_is_not_quoted(text: str, confidence: float) -> None:
    first, far = result("Run the lantern now."), result(text, 2, confidence=confidence)
    assert answer("When does the lantern run?", first, far) == "Run the lantern now. [1]"


def test_what_was_quoted_once_is_not_quoted_again() -> None:
    results = [result("Run the lantern.", rank) for rank in (1, 2)]
    assert answer("How does the lantern run?", *results) == "Run the lantern. [1]"


LONG = " ".join(
    [f"Sentence {number} says nothing of any interest to anybody here." for number in range(12)]
)


def test_of_long_prose_the_sentences_that_fit_are_quoted() -> None:
    text = f"{LONG} The wick is trimmed by hand. {LONG}"
    assert answer("Who trims the wick?", result(text)) == "The wick is trimmed by hand. [1]"


def test_the_language_of_the_page_says_where_sentences_end() -> None:
    prose = "Dies steht hier und sagt gar nichts weiter dazu. " * 10
    text = f"{prose}Der Docht, vgl. Kapitel 3, ist zu kürzen. {prose}"
    quote = answer("Docht", result(text, lang="de-AT"))
    assert quote == "Der Docht, vgl. Kapitel 3, ist zu kürzen. [1]"


def test_a_sentence_without_spaces_is_found_by_its_characters() -> None:
    prose = "これは関係のない文です。" * 20
    text = f"{prose}芯は毎晩切ります。{prose}"
    assert answer("芯を切る", result(text, lang="ja")) == "芯は毎晩切ります。 [1]"


def many(line: str) -> str:
    return "\n".join(line.format(number) for number in range(30))


def test_of_a_long_list_the_items_that_fit_are_quoted_whole() -> None:
    wick = "- The wick is cut:\n\n  ```sh\n  trim --now\n  ```"
    items = many("- Item {} says nothing of interest.")
    text = f"The parts are:\n\n{items}\n{wick}\n{items}"
    assert answer("Where is the wick cut?", result(text)) == f"The parts are:\n\n{wick} [1]"


def test_of_a_long_table_the_rows_that_fit_are_quoted_under_its_head() -> None:
    head = "| option | meaning |\n|---|---|"
    rows = many("| `--o{}` | nothing of interest |")
    row = "| `--trim` | cuts the wick |"
    text = f"{head}\n{rows}\n{row}\n{rows}"
    assert answer("Which option cuts the wick?", result(text)) == f"{head}\n{row}\n[1]"


def test_the_evidence_may_reach_over_several_blocks_and_all_are_quoted() -> None:
    text = "Use the knob.\n\n- Left is cold.\n- Right is warm.\n\nUnrelated words."
    evidence = "Use the knob.\n\n- Left is cold."
    quote = answer("How is it heated?", result(text, evidence=evidence))
    assert quote == "Use the knob.\n\n- Left is cold.\n- Right is warm. [1]"


def test_a_table_that_says_what_the_prose_before_it_leaves_open_is_quoted_with_it() -> None:
    text = f"Exit codes tell scripts what happened.\n\n{TABLE.split(chr(10) * 2)[1]}"
    quote = answer("What exit code has a clone of some depth?", result(text))
    assert quote.startswith("Exit codes tell scripts")
    assert "history that a clone fetches" in quote


CODE = """\
The lantern is free software.

## Setup

Take these steps.

first command

```
lantern setup
```
"""


def test_who_asks_for_a_command_gets_the_code_of_the_section() -> None:
    asked = answer("Which command takes the setup steps?", result(CODE))
    assert asked == "Take these steps.\n\nfirst command\n\n```\nlantern setup\n```\n[1]"


def test_who_asks_what_something_means_gets_prose_before_code() -> None:
    text = "The option `depth` limits a clone.\n\n## Example\n\n```sh\nclone depth option\n```"
    quote = answer("What is the meaning of the depth option of a clone?", result(text))
    assert quote == "The option `depth` limits a clone. [1]"


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Which command is for the lantern wick?", "```\nlantern wick\n```\n[1]"),
        ("What does the lantern wick mean?", "A lantern wick. [1]"),
    ],
)
@pytest.mark.parametrize("code_first", [True, False])
def test_where_prose_and_code_fit_alike_the_question_decides(
    question: str, quote: str, code_first: bool
) -> None:
    blocks = ["A lantern wick.", "```\nlantern wick\n```"]
    text = "\n\n## Next\n\n".join(reversed(blocks) if code_first else blocks)
    assert answer(question, result(text)) == quote


def test_brackets_in_a_quote_are_no_citations() -> None:
    parts = ExtractAnswerer().stream("What is kept?", [result("Kept as in [7] and [1].")])
    assert [part for part in parts if isinstance(part, Cited)] == [Cited(1)]


BLOCKS = st.sampled_from(
    [
        "```sh\nrun one\n\nrun two\n```",
        "~~~\n```\nfence in a fence\n```\n~~~",
        "    indented code\n\n    goes on",
        "Some prose about the lantern. It has two sentences.",
        LONG,
        "- one\n- two\n\n  ```\n  code of two\n  ```\n- three",
        "| a | b |\n|---|---|\n| lantern | 1 |",
        "## Lantern",
        "> A quote about a lantern.\n> It goes on.",
    ]
)


@given(st.lists(BLOCKS, min_size=1, max_size=6), st.integers(0, 5))
def test_a_quote_is_made_of_whole_lines_and_sentences_and_never_of_half_a_fence(
    blocks: list[str], evidence: int
) -> None:
    text = "\n\n".join(blocks)
    found = result(text, evidence=blocks[evidence % len(blocks)])
    parts = list(ExtractAnswerer().stream("How do I run the lantern?", [found]))
    assert parts[-1] == Cited(1)
    quote = str(parts[0])
    assert all(line in text for line in quote.split("\n"))
    positions = [text.find(line) for line in quote.split("\n") if line.strip()]
    assert all(position >= 0 for position in positions)
    assert [fence for fence in ("```", "~~~") if quote.count(fence) % 2] == []


def test_a_block_of_the_longest_length_is_quoted_whole_and_a_longer_one_in_part() -> None:
    for words, whole in ((WHOLE_WORDS, True), (WHOLE_WORDS + 10, False)):
        filler = "nothing here matters much now. " * ((words - 5) // 5)
        text = f"The wick is cut daily. {filler}".strip()
        assert (answer("How is the wick cut?", result(text)) == f"{text} [1]") is whole
