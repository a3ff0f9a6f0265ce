"""Chunks, generators that ask loopback servers, and runs: what the tests of asking share."""

from collections.abc import Sequence
from typing import Any

from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.options import AskingOptions
from qindex_pipeline.questions.generators.generator import Chunk, Generator
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.proposing import Proposed, propose_questions
from qindex_pipeline_tests.conftest import NOON, MakeSettings, Row, chunk_row

HAIKU = "anthropic:claude-haiku-4-5-20251001"
MINI = "openai:gpt-4o-mini"
QWEN = "ollama:qwen2.5:14b"


def chunks_of(count: int, site: str = "docs", **values: Any) -> list[Row]:
    return [
        chunk_row(
            f"Installing version number {number} requires the package manager of release "
            f"{number}. The configuration directory contains the settings of release {number}.",
            site=site,
            **values,
        )
        for number in range(count)
    ]


def opened(settings: MakeSettings, spec: str, url: str, key: str = "key") -> Generator:
    made = settings(
        ANTHROPIC_API_KEY=key,
        OPENAI_API_KEY=key,
        QINDEX_ANTHROPIC_BASE_URL=url,
        QINDEX_OPENAI_BASE_URL=f"{url}/v1",
        QINDEX_OLLAMA_URL=url,
    )
    return open_generator(spec, made)


def proposed(
    chunks: Sequence[Chunk],
    generator: Generator,
    ledger: Ledger,
    progress: Progress = silent,
    **options: Any,
) -> Proposed:
    """A run at noon."""
    return propose_questions(
        chunks, generator, ledger, lambda: NOON, AskingOptions(**options), progress
    )
