"""What became of a page that should have won: its crawl, its chunks, and the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qindex_pipeline.errors import UsageError
from qindex_pipeline.explaining.gathering.crawled import crawled, is_page, urls_of
from qindex_pipeline.explaining.gathering.known import chunk_rows, rows_of_page
from qindex_pipeline.explaining.gathering.records import Records, RecordsOfSites, Row
from qindex_pipeline.explaining.gathering.searched import Searched, section_of, sections
from qindex_pipeline.explaining.model.explanation import Threshold
from qindex_pipeline.explaining.model.facts import Page, PageChunk, Section, Verdict
from qindex_pipeline.explaining.verdicts.contest import Side, best_side
from qindex_pipeline.explaining.verdicts.found import Found, contest_of, found_page
from qindex_pipeline.explaining.verdicts.unfound import unfound
from qindex_pipeline.explaining.verdicts.verdicts import verdict
from qindex_pipeline.explaining.verdicts.wording import named
from qindex_pipeline.retrieval.held import Published

if TYPE_CHECKING:
    from qindex_pipeline.sites import Site


@dataclass(frozen=True)
class Wanted:
    """A page that should have won.

    Attributes:
        asked: As a person wrote it.
        site: Key of its site.
        options: The site's options; None where the sites file does not have it.
        records: What the tables know of the site.
        threshold: What a result of the site needs.
        top_k: Results that a reader gets.
    """

    asked: str
    site: str
    options: "Site | None"
    records: Records
    threshold: Threshold
    top_k: int


def site_of(asked: str, index: Published, records: RecordsOfSites) -> str:
    """The site that a page belongs to: the one that has it, else the one on whose host it is.

    Raises UsageError where that is not exactly one.
    """
    known = sorted(index.sites)
    host = urlsplit(asked).netloc
    having = [site for site in known if _has(asked, index, records.of(site), site)]
    on_host = [
        key
        for key, site in records.options.items()
        if key in known and urlsplit(site.public_url).netloc == host
    ]
    candidates = having or on_host or known
    if len(candidates) == 1:
        return candidates[0]
    raise UsageError(f"{asked} may be a page of {', '.join(candidates)}: name one with --site")


def explained_page(searched: Searched, located: Mapping[str, Section], wanted: Wanted) -> Page:
    """What became of a page in a search.

    Args:
        searched: The search.
        located: Where its candidates stand.
        wanted: The page.

    Raises:
        UsageError: An anchor is given that the page does not have.
    """
    collection, records = searched.index.collection, wanted.records
    rows = rows_of_page(wanted.asked, records, chunk_rows(records, collection, wanted.site))
    indexed = sections(collection, [row["chunk_id"] for row in rows])
    found = found_page(searched, records, indexed) if indexed else None
    chunks = [_chunk(row, found) for row in rows]
    crawl = None
    if records.pages is not None:
        crawl = crawled(wanted.asked, records.pages, wanted.options)
    if found is None:
        repeated = [chunk.duplicate_of for chunk in chunks if chunk.duplicate_of]
        originals = list(sections(collection, repeated).values())
        lost = unfound(crawl, chunks, originals)
        return Page(wanted.asked, wanted.site, crawl, chunks, None, None, lost)
    rank = best_side(list(found.sides.values())).standing.fused_rank
    return Page(
        asked=wanted.asked,
        site=wanted.site,
        crawled=crawl,
        chunks=chunks,
        rank=rank,
        page_rank=None if rank is None else _page_rank(searched, located, rank),
        verdict=_repeated(rows, found.winner)
        or verdict(contest_of(found, wanted.top_k), wanted.threshold),
    )


def _has(asked: str, index: Published, records: Records, site: str) -> bool:
    requested = (url for row in records.pages or () for url in urls_of(row))
    urls = (row["url"] for row in chunk_rows(records, index.collection, site))
    return any(is_page(asked, url) for url in {*requested, *urls})


def _chunk(row: Row, found: Found | None) -> PageChunk:
    section = section_of(row)
    side = None if found is None else found.sides.get(section.chunk_id)
    if found is None or side is None:
        return PageChunk(section, row.get("duplicate_of"), None, ())
    return PageChunk(section, None, side.standing, found.questions[section.chunk_id])


def _page_rank(searched: Searched, located: Mapping[str, Section], rank: int) -> int:
    """How many pages stand in the fused order up to a chunk's rank."""
    first = [located[item.chunk_id].url for item in searched.ranked[:rank]]
    return len(set(first))


def _repeated(rows: Sequence[Row], winner: Side | None) -> Verdict | None:
    """The verdict on a page of which a chunk repeats what won."""
    if winner is None or winner.standing.fused_rank != 1:
        return None
    same = [row for row in rows if row.get("duplicate_of") == winner.section.chunk_id]
    if not same:
        return None
    text = (
        f"The winner, {winner.section.citation}, is the same text as {named(section_of(same[0]))}: "
        "a text that stands twice is indexed once."
    )
    return Verdict("duplicate_chunk", None, text)
