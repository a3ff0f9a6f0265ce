"""The rows of the candidate_questions table."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qindex_pipeline.ids import content_hash
from qindex_pipeline.questions.asking.entries import Entry
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import Chunk, Generator, Usage
from qindex_pipeline.questions.identity import normalize


def candidate_rows(
    chunks: Sequence[Chunk],
    keys: Mapping[str, str],
    entry_of: Callable[[str], Entry | None],
    generator: Generator,
    prices: Prices,
) -> Iterator[dict[str, Any]]:
    """The rows of each chunk, in the chunks' order.

    What the calls for a text took stands on the first row that they led to, once a table.

    Args:
        chunks: Rows of the chunks table.
        keys: Key of each chunk by its id.
        entry_of: The entry of a key, None where nothing came of asking.
        generator: Who was asked.
        prices: What the models cost.
    """
    charged: set[str] = set()
    for chunk in chunks:
        key = keys[chunk["chunk_id"]]
        entry = entry_of(key)
        if entry is None:
            continue
        usage = Usage() if key in charged else entry.usage
        charged.add(key)
        seen: Counter[str] = Counter()
        for item in entry.questions:
            name = normalize(item.proposal.question)
            seen[name] += 1
            yield {
                "site": chunk["site"],
                "question_id": content_hash(chunk["chunk_id"], name, str(seen[name])),
                "chunk_id": chunk["chunk_id"],
                "question": item.proposal.question,
                "evidence": item.proposal.evidence,
                "generator": generator.spec,
                "prompt_version": generator.prompt_version,
                "input_hash": key,
                "tokens_in": usage.tokens_in,
                "tokens_out": usage.tokens_out,
                "cost_usd": prices.cost(generator.spec, usage, batch=entry.batch),
                "created_at": entry.created_at,
                "origin": item.origin,
            }
            usage = Usage()
