"""Files of questions with known pages, one JSON object a line."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qindex_pipeline.errors import UsageError
from qindex_pipeline.page_names import names_of, page_name


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    id: str
    question: str = Field(min_length=1)


class EvalRow(_Asked):
    """A question that the docs answer.

    Attributes:
        id: Unique in its file.
        question: What a user asks.
        page: The page that answers it, as a path below the host's root or as a full URL.
        also: Further pages that truly answer it.
        anchor: Section of `page`; kept for people, pages are what is counted.
    """

    page: str
    also: tuple[str, ...] = ()
    anchor: str | None = None

    @property
    def right(self) -> frozenset[str]:
        """Names of the pages that answer it."""
        return frozenset(page_name(page) for page in (self.page, *self.also))


class UnanswerableRow(_Asked):
    """A question that the docs don't answer; `kind` groups them (`near`: of the same field)."""

    kind: str = "unanswerable"


_Row = TypeVar("_Row", bound=_Asked)


def read_rows(file: Path) -> list[EvalRow]:
    """The questions of a JSON-lines file; empty lines are skipped.

    Raises UsageError naming file and line where a line is no such object, repeats an id, or
    where there is no question at all.
    """
    return _read(file, EvalRow)


def read_unanswerable(file: Path) -> list[UnanswerableRow]:
    """The questions of a file that the docs don't answer; errors as in `read_rows`."""
    return _read(file, UnanswerableRow)


def _read(file: Path, kind: type[_Row]) -> list[_Row]:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(
            f"{file} is not UTF-8: it holds questions, one JSON object a line"
        ) from None
    rows: dict[str, _Row] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _parse(file, number, line, kind)
        if row.id in rows:
            raise UsageError(f"{file}, line {number}: the id {row.id!r} stands there twice")
        rows[row.id] = row
    if not rows:
        raise UsageError(f"{file} holds no question: write one JSON object a line")
    return list(rows.values())


def _parse(file: Path, number: int, line: str, kind: type[_Row]) -> _Row:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"])
        problem = f"{where}: {detail['msg']}" if where else detail["msg"]
        raise UsageError(f"{file}, line {number}: {problem}") from None


def not_indexed(rows: Sequence[EvalRow], urls: Iterable[str]) -> list[str]:
    """The rows' pages that are none of the index's `urls`, sorted: a typo, or never crawled."""
    known = {name for url in set(urls) for name in names_of(url)}
    pages = {page for row in rows for page in (row.page, *row.also)}
    return sorted(page for page in pages if page_name(page) not in known)
