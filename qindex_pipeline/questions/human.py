"""Questions that people pin, add or ban: rows among the candidates, and what must not be indexed.

They cost nothing and no generator writes them anew. Each belongs to the first chunk of its page
that holds its evidence; one whose evidence stands nowhere on the page is a candidate all the
same, for the filters to reject and a check to name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qindex_pipeline.ids import content_hash
from qindex_pipeline.page_names import names_of, page_name
from qindex_pipeline.questions.evidence import find_evidence
from qindex_pipeline.questions.human_file import HumanFile, Wish, human_file, read_human_file
from qindex_pipeline.questions.identity import normalize

HUMAN = "human"
"""Origin of a question that people want; also generator and prompt version where no model
proposed it in this run."""

NO_CHUNK = ""
"""The chunk of a question whose page the site does not have."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Human:
    """What people say about the questions of one site.

    Attributes:
        site: Key of the site.
        path: Where the file is, whether it exists or not.
        file: What stands in it, None where there is none.
    """

    site: str
    path: Path
    file: HumanFile | None

    @property
    def wanted(self) -> int:
        """Number of questions that people add or pin."""
        return len(self.file.wishes) if self.file else 0

    def is_banned(self, page_url: str, question: str) -> bool:
        """Whether people ban a question from a page; case, spaces and the mark don't matter."""
        if self.file is None:
            return False
        wanted = normalize(question)
        return any(wanted in self.file.banned.get(name, ()) for name in names_of(page_url))

    def rows(self, chunks: Sequence[Row], earlier: Sequence[Row] = ()) -> list[dict[str, Any]]:
        """Rows of the candidate_questions table for the questions that people want.

        Args:
            chunks: Rows of the chunks table, those that repeat others included.
            earlier: Candidate rows in which the evidence of a pinned question is looked up, this
                run's before the last one's.
        """
        if self.file is None:
            return []
        found = (self._row(self.file, wish, chunks, earlier) for wish in self.file.wishes)
        return list({row["question_id"]: row for row in found}.values())

    def joined(
        self, chunks: Sequence[Row], proposed: Sequence[Row], last: Sequence[Row] = ()
    ) -> list[dict[str, Any]]:
        """All candidates of a run: what people want first, then what a generator proposed.

        A proposal that people want too stays one row, with its model, tokens and price.

        Args:
            chunks: Rows of the chunks table, those that repeat others included.
            proposed: Candidate rows of this run.
            last: Candidate rows of the last run.
        """
        by_id = {row["question_id"]: dict(row) for row in proposed}
        wanted = self.rows(chunks, (*proposed, *last))
        for number, row in enumerate(wanted):
            same = by_id.pop(row["question_id"], None)
            if same is not None:
                shown = {name: row[name] for name in ("question", "evidence", "origin")}
                wanted[number] = same | shown
        return [*wanted, *by_id.values()]

    def not_standing(self, verdicts: Iterable[Row]) -> Iterator[str]:
        """A line for each wanted question that is not accepted: page, question, reason."""
        pages = (
            {normalize(wish.question): wish.page for wish in self.file.wishes} if self.file else {}
        )
        for row in verdicts:
            if row["origin"] == HUMAN and not row["accepted"]:
                page = pages.get(normalize(row["question"]), "")
                yield f"{page}: {row['question']!r} ({row['reject_reason']})"

    def _row(
        self, file: HumanFile, wish: Wish, chunks: Sequence[Row], earlier: Sequence[Row]
    ) -> dict[str, Any]:
        chunk_id, evidence = _place(wish, chunks, earlier)
        name = normalize(wish.question)
        return {
            "site": self.site,
            "question_id": content_hash(chunk_id or wish.page, name, "1"),
            "chunk_id": chunk_id,
            "question": wish.question,
            "evidence": evidence,
            "generator": HUMAN,
            "prompt_version": HUMAN,
            "input_hash": content_hash(HUMAN, page_name(wish.page), name, wish.evidence or ""),
            "tokens_in": 0,
            "tokens_out": 0,
            "cost_usd": 0.0,
            "created_at": file.written_at,
            "origin": HUMAN,
        }


def load_human(folder: Path, site: str) -> Human:
    """What people say about the questions of `site`, in `<folder>/<site>.yaml`.

    Raises UsageError naming file, page and entry where the file is malformed.
    """
    path = human_file(folder, site)
    return Human(site, path, read_human_file(path))


def _place(wish: Wish, chunks: Sequence[Row], earlier: Sequence[Row]) -> tuple[str, str]:
    """The chunk that a question belongs to, and its evidence as it stands there.

    Without evidence on the page: the page's first chunk, and what the evidence was. A chunk that
    repeats another one stands for that one, which is indexed.
    """
    page, by_id = page_name(wish.page), {chunk["chunk_id"]: chunk for chunk in chunks}
    on_page = [
        by_id.get(chunk["duplicate_of"], chunk)
        for chunk in chunks
        if page in names_of(chunk["url"])
    ]
    known = [("", wish.evidence)] if wish.evidence else list(_proposed(wish, earlier))
    for own, evidence in known:
        # Where it was proposed before where its evidence stands too; the sort is stable.
        for chunk in sorted(on_page, key=lambda chunk: chunk["chunk_id"] != own):
            found = find_evidence(evidence, chunk["text"])
            if found is not None:
                return chunk["chunk_id"], found
    first = on_page[0]["chunk_id"] if on_page else NO_CHUNK
    return first, known[0][1] if known else ""


def _proposed(wish: Wish, earlier: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Chunk and evidence of each earlier row that asks what is wished for."""
    name = normalize(wish.question)
    for row in earlier:
        if normalize(row["question"]) == name:
            yield row["chunk_id"], row["evidence"]
