"""What the ledger knows of one asked chunk, and its line in a ledger file.

A line is a JSON object. Lines of the first release held no text and no place: they still answer
the chunk that they belong to, but are nobody's predecessor.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self

from qindex_pipeline.ids import content_hash
from qindex_pipeline.questions.generators.generator import Chunk, Failure, Generator, Usage
from qindex_pipeline.questions.generators.proposal import Proposal

Origin = Literal["generated", "kept"]

Cause = Failure | Literal["unanswered"]
"""Why a chunk has no valid answer; unanswered: a batch ended without a word about it."""


@dataclass(frozen=True)
class Source:
    """All that decides an answer: model, prompt, place and the core text.

    Neither the site nor the URL is part of it: a moved page asks nothing.
    """

    spec: str
    prompt_version: str
    title: str
    heading_path: tuple[str, ...]
    text: str

    @classmethod
    def of(cls, chunk: Chunk, generator: Generator) -> Self:
        """What `generator` would be asked for `chunk`."""
        return cls(
            generator.spec,
            generator.prompt_version,
            chunk["title"],
            tuple(chunk["heading_path"]),
            chunk["text"],
        )

    @property
    def key(self) -> str:
        """The hash under which the answer is kept."""
        return content_hash(*self._before_text, self.text)

    @property
    def place(self) -> str:
        """A hash that a chunk keeps when its text is edited."""
        return content_hash(*self._before_text)

    @property
    def _before_text(self) -> tuple[str, ...]:
        return (self.spec, self.prompt_version, self.title, *self.heading_path)


def input_hash(chunk: Chunk, generator: Generator) -> str:
    """The key of what `generator` would be asked for `chunk`."""
    return Source.of(chunk, generator).key


@dataclass(frozen=True)
class Question:
    """A question of an entry, and whether it is this answer's or an earlier state's."""

    proposal: Proposal
    origin: Origin = "generated"


@dataclass(frozen=True)
class Entry:
    """What came of asking about one chunk.

    Attributes:
        questions: Those that the answer holds; with a failure those that were kept all the same.
        created_at: When the answer arrived.
        usage: Tokens of all calls for it, those that failed included.
        source: What was asked; None in entries of the first release.
        failure: Why there is no valid answer; None when there is one.
        tries: Runs that asked in vain, this one included.
        batch: Whether it was asked through the batch interface, at half the price.
    """

    questions: tuple[Question, ...]
    created_at: datetime
    usage: Usage = field(default_factory=Usage)
    source: Source | None = None
    failure: Cause | None = None
    tries: int = 0
    batch: bool = False

    @property
    def rank(self) -> tuple[bool, int, datetime]:
        """Of two entries with one key the higher counts: an answer, then the later failure."""
        return self.failure is None, self.tries, self.created_at


def encode(key: str, entry: Entry) -> bytes:
    """The line of an entry, with its end. Half characters of broken pages are kept."""
    values: dict[str, Any] = {
        "key": key,
        "created_at": entry.created_at.isoformat(),
        "tokens_in": entry.usage.tokens_in,
        "tokens_out": entry.usage.tokens_out,
        "cached_in": entry.usage.cached_in,
        "questions": [
            [item.proposal.question, item.proposal.evidence, item.origin]
            for item in entry.questions
        ],
        "failure": entry.failure,
        "tries": entry.tries,
        "batch": entry.batch,
    }
    if entry.source is not None:
        values |= encode_source(entry.source)
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def decode(line: bytes) -> tuple[str, Entry]:
    """Key and entry of a line. Raises ValueError when it is none: torn, or damaged."""
    try:
        values = json.loads(line.decode("utf-8", "surrogatepass"))
        key = values["key"] if "key" in values else values["input_hash"]
        return key, _entry(values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a line of the ledger") from error


def _entry(values: Mapping[str, Any]) -> Entry:
    usage = Usage(values["tokens_in"], values["tokens_out"], values.get("cached_in", 0))
    return Entry(
        questions=tuple(
            Question(Proposal(question, evidence), *origin)
            for question, evidence, *origin in values["questions"]
        ),
        created_at=datetime.fromisoformat(values["created_at"]),
        usage=usage,
        source=decode_source(values) if "text" in values else None,
        failure=values.get("failure"),
        tries=values.get("tries", 0),
        batch=values.get("batch", False),
    )


def encode_source(source: Source) -> dict[str, Any]:
    """A source as JSON values."""
    return {
        "spec": source.spec,
        "prompt_version": source.prompt_version,
        "title": source.title,
        "heading_path": list(source.heading_path),
        "text": source.text,
    }


def decode_source(values: Mapping[str, Any]) -> Source:
    """A source from JSON values. Raises KeyError when one is missing."""
    return Source(
        values["spec"],
        values["prompt_version"],
        values["title"],
        tuple(values["heading_path"]),
        values["text"],
    )
