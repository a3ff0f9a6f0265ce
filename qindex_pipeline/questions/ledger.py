"""The ledger: every paid answer, durable the moment it arrives, keyed by what was asked.

An append-only JSON-lines file per writing process, all read at the start. A line that a killed
process left half-written is skipped; its chunk is asked again.
"""

import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from qindex_pipeline.ids import content_hash
from qindex_pipeline.questions.generator import Answer, Chunk, Generator
from qindex_pipeline.questions.proposal import Proposal


def input_hash(chunk: Chunk, generator: Generator) -> str:
    """Hash of all that decides an answer: text, place, prompt version and model.

    Neither the site nor the URL enters: a moved page asks nothing.
    """
    return content_hash(
        generator.spec,
        generator.prompt_version,
        chunk["title"],
        *chunk["heading_path"],
        chunk["text"],
    )


@dataclass(frozen=True)
class Entry:
    """One answer in the ledger."""

    answer: Answer
    created_at: datetime


class Ledger:
    """Answers of all runs and sites under one folder."""

    def __init__(self, folder: Path) -> None:
        """Read all answers under `folder`; a file is created with the first new one."""
        self._file = folder / f"{uuid.uuid4().hex}.jsonl"
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        for file in sorted(folder.glob("*.jsonl")):
            self._entries.update(_read(file))

    def get(self, key: str) -> Entry | None:
        """The answer to an input, if it was ever given."""
        return self._entries.get(key)

    def put(self, key: str, entry: Entry) -> None:
        """Store an answer; it is on disk when this returns. Safe from several threads."""
        line = json.dumps(_encode(key, entry), ensure_ascii=False)
        with self._lock:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8", errors="surrogatepass") as file:
                file.write(line + "\n")
            self._entries[key] = entry


def _encode(key: str, entry: Entry) -> Mapping[str, Any]:
    return {
        "input_hash": key,
        "created_at": entry.created_at.isoformat(),
        "tokens_in": entry.answer.tokens_in,
        "tokens_out": entry.answer.tokens_out,
        "questions": [[item.question, item.evidence] for item in entry.answer.proposals],
    }


def _read(file: Path) -> Iterator[tuple[str, Entry]]:
    with file.open("rb") as lines:
        for line in lines:
            try:
                values = json.loads(line.decode("utf-8", "surrogatepass"))
            except ValueError:  # torn: half a line, or half a character
                continue
            proposals = tuple(Proposal(*pair) for pair in values["questions"])
            answer = Answer(proposals, values["tokens_in"], values["tokens_out"])
            created_at = datetime.fromisoformat(values["created_at"])
            yield values["input_hash"], Entry(answer, created_at)
