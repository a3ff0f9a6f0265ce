"""The file of a site's questions that people pin, add or ban: read, and held against its shape."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from qindex_pipeline.errors import UsageError
from qindex_pipeline.page_names import page_name
from qindex_pipeline.questions.identity import normalize

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

_SHAPE = (
    "write `pages:`, below it one page each, and below a page `add` (entries with question and "
    "evidence), `pin` (questions) or `ban` (questions)"
)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class _Added(_Strict):
    question: _Text
    evidence: _Text


class _Pinned(_Strict):
    question: _Text
    evidence: _Text | None = None


def _as_entry(value: object) -> object:
    return {"question": value} if isinstance(value, str) else value


def _empty_when_nothing_stands_there(value: object) -> object:
    return [] if value is None else value


_Section = BeforeValidator(_empty_when_nothing_stands_there)


class _Page(_Strict):
    add: Annotated[list[_Added], _Section] = []
    pin: Annotated[list[Annotated[_Pinned, BeforeValidator(_as_entry)]], _Section] = []
    ban: Annotated[list[_Text], _Section] = []


@dataclass(frozen=True)
class Wish:
    """A question that people want on a page.

    Attributes:
        page: The page as the file names it.
        question: The question, on one line.
        evidence: Words of the page that answer it; None where a pinned question has its own.
    """

    page: str
    question: str
    evidence: str | None


@dataclass(frozen=True)
class HumanFile:
    """What stands in one file.

    Attributes:
        wishes: Added and pinned questions, in the file's order.
        banned: Normalised questions that must not be indexed, by the name of their page.
        written_at: When the file was last changed.
    """

    wishes: Sequence[Wish]
    banned: Mapping[str, frozenset[str]]
    written_at: datetime


def human_file(folder: Path, site: str) -> Path:
    """Where the questions of a site stand; the file need not exist."""
    return folder / f"{site}.yaml"


def orphans(folder: Path, sites: Mapping[str, object]) -> list[Path]:
    """Files in `folder` that name no site of `sites`: nobody reads them."""
    return sorted(
        file
        for pattern in ("*.yaml", "*.yml")
        for file in folder.glob(pattern)
        if file.suffix == ".yml" or file.name.removesuffix(".yaml") not in sites
    )


def read_human_file(file: Path) -> HumanFile | None:
    """The questions of a file, None where there is none.

    Raises UsageError naming file, page and entry, and what to do.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        written_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8: save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    pages = {name: _page(file, name, values) for name, values in _pages(file, text).items()}
    _require_different_pages(file, pages)
    for name, page in pages.items():
        _require_no_contradiction(file, name, page)
    return HumanFile(
        wishes=[wish for name, page in pages.items() for wish in _wishes(name, page)],
        banned={
            page_name(name): frozenset(normalize(text) for text in page.ban)
            for name, page in pages.items()
        },
        written_at=written_at,
    )


def _pages(file: Path, text: str) -> Mapping[str, object]:
    try:
        found = cast(object, YAML(typ="safe").load(text))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not understood"
        raise UsageError(
            f"{file}{where} is not valid YAML ({problem}): put texts that hold a colon or a "
            "question mark in quotes, and name each page once"
        ) from None
    if found is None:
        return {}
    document = _mapping(found)
    if document is None or set(document) != {"pages"}:
        raise UsageError(f"{file} is no file of questions: {_SHAPE}")
    pages = {} if document["pages"] is None else _mapping(document["pages"])
    if pages is None:
        raise UsageError(f"{file}: `pages` must map pages to their questions: {_SHAPE}")
    return pages


def _mapping(value: object) -> Mapping[str, object] | None:
    if not isinstance(value, Mapping):
        return None
    return {str(key): item for key, item in cast("Mapping[object, object]", value).items()}


def _page(file: Path, name: str, values: object) -> _Page:
    try:
        return _Page.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{file}: page {name!r}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    detail: Any = error.errors()[0]
    parts = [f"entry {part + 1}" if isinstance(part, int) else part for part in detail["loc"]]
    problem = "not known" if detail["type"] == "extra_forbidden" else detail["msg"]
    return ": ".join(filter(None, (", ".join(parts), problem))) + f"; {_SHAPE}"


def _wishes(name: str, page: _Page) -> Iterator[Wish]:
    for entry in (*page.add, *page.pin):
        yield Wish(name, " ".join(entry.question.split()), entry.evidence)


def _require_different_pages(file: Path, pages: Mapping[str, object]) -> None:
    first: dict[str, str] = {}
    for name in pages:
        other = first.setdefault(page_name(name), name)
        if other != name:
            raise UsageError(f"{file}: {other!r} and {name!r} are one page: write them as one")


def _require_no_contradiction(file: Path, name: str, page: _Page) -> None:
    wanted = [normalize(entry.question) for entry in (*page.add, *page.pin)]
    banned = {normalize(text) for text in page.ban}
    for number, question in enumerate(wanted):
        if question in banned:
            raise UsageError(f"{file}: page {name!r}: {question!r} is wanted and banned: choose")
        if question in wanted[:number]:
            raise UsageError(f"{file}: page {name!r}: {question!r} stands there twice: keep one")
