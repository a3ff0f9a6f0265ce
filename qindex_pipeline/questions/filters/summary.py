"""What the stage grounded_questions tells people: counts by filter and examples, as markdown."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

from qindex_pipeline.questions.filters.judging import FILTERS

Row = Mapping[str, Any]

EXAMPLES = 10

_LONGEST_EVIDENCE = 160


@dataclass(frozen=True)
class Verdicts:
    """Verdicts by filter.

    Attributes:
        proposed: Candidates.
        accepted: Those that no filter objects to.
        rejected: Candidates by the first filter that objects, which is what rejects them.
        objected: Candidates by every filter that objects.
        seed_grounded: Candidates that the seed's grounding rule lets pass; it rejects none.
    """

    proposed: int
    accepted: int
    rejected: Mapping[str, int]
    objected: Mapping[str, int]
    seed_grounded: int

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Verdicts":
        """Count the rows of a grounded_questions table."""
        return cls(
            proposed=len(rows),
            accepted=sum(row["accepted"] for row in rows),
            rejected=Counter(row["reject_reason"] for row in rows if row["reject_reason"]),
            objected=Counter(chain.from_iterable(row["objections"] for row in rows)),
            seed_grounded=sum(bool(row["seed_grounded"]) for row in rows),
        )

    @property
    def rejected_share(self) -> dict[str, float]:
        """Share of the candidates that each filter rejects; filters that reject none are absent."""
        return {name: count / self.proposed for name, count in self.rejected.items()}

    @property
    def markdown(self) -> str:
        """A table of the filters in their order, from all candidates to the accepted ones."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield "| filter | rejected | objected | left |"
        yield "|---|---:|---:|---:|"
        left = self.proposed
        yield f"| proposed | | | {left} |"
        # A table of an earlier release may name filters that are gone.
        for name in (*FILTERS, *sorted(self.objected.keys() - set(FILTERS))):
            left -= self.rejected.get(name, 0)
            objected = self.objected.get(name, 0)
            yield f"| {name} | {self.rejected.get(name, 0)} | {objected} | {left} |"
        yield f"| **accepted** | | | **{self.accepted}** |"
        without = self.proposed - self.seed_grounded
        yield f"| the seed's rule, counted only | | {without} | {self.seed_grounded} |"


def accepted_examples(rows: Iterable[Row]) -> str:
    """Ten accepted questions with their evidence, the same ones for the same table."""
    chosen = islice(_steadily(row for row in rows if row["accepted"]), EXAMPLES)
    return _table(("question", "evidence"), ((row["question"], row["evidence"]) for row in chosen))


def rejected_examples(rows: Iterable[Row]) -> str:
    """Ten rejected questions with what objects to them, of every filter where there are enough."""
    by_reason: defaultdict[str, list[Row]] = defaultdict(list)
    for row in _steadily(row for row in rows if not row["accepted"]):
        by_reason[row["reject_reason"]].append(row)
    turns = zip_longest(*(by_reason[name] for name in sorted(by_reason)))
    chosen = islice((row for turn in turns for row in turn if row is not None), EXAMPLES)
    return _table(
        ("question", "objections", "evidence"),
        ((row["question"], ", ".join(row["objections"]), row["evidence"]) for row in chosen),
    )


def _steadily(rows: Iterable[Row]) -> list[Row]:
    """In the order of their ids, which are hashes: spread over the site, and no new draw a run."""
    return sorted(rows, key=lambda row: row["question_id"])


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > _LONGEST_EVIDENCE:
        line = f"{line[:_LONGEST_EVIDENCE].rstrip()} …"
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
