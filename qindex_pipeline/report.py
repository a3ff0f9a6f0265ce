"""The tables that commands print: a run's closing table, and the sites."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from qindex_pipeline.console import table
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import load_sites
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, RAW_PAGES

if TYPE_CHECKING:
    from qindex_pipeline.ingest import Ingested


def print_report(done: "Ingested") -> None:
    """Print what a run did."""
    table(f"{done.site}: done in {done.seconds} s", list(report_rows(done)))


def report_rows(done: "Ingested") -> Iterator[tuple[str, str]]:
    """The closing table: pages by outcome, questions by verdict, calls, cost, vectors."""
    assets = done.assets
    pages, asked = assets["raw_pages"], assets["candidate_questions"]
    judged, embedded, index = (
        assets[name] for name in ("grounded_questions", "embeddings", "question_index")
    )
    yield "pages", _by_prefix(pages, "outcome/")
    yield from _crawl_rows(pages)
    chunks = assets["chunks"]
    yield (
        "chunks",
        f"{chunks['chunks']}"
        + (f" ({chunks['repeated']} repeat others)" if chunks["repeated"] else ""),
    )
    yield "questions proposed", f"{asked['questions']} by {asked['generator']}"
    rejected = _by_prefix(judged, "rejected/")
    yield (
        "questions accepted",
        f"{judged['accepted']}" + (f"; rejected: {rejected}" if rejected else ""),
    )
    yield "LLM calls", f"{asked['llm_calls']} ({asked['answers_from_ledger']} from the ledger)"
    yield "tokens", f"{asked['tokens_in']} in, {asked['tokens_out']} out"
    yield "cost", _cost(asked.get("cost_usd"))
    # The filters look at vectors too: what they had embedded is not embedded again.
    texts = judged.get("texts_embedded", 0) + embedded["texts_embedded"]
    yield "texts embedded", f"{texts} by {embedded['embedder']}"
    yield from _evaluation_rows(assets.get("evaluation", {}))
    yield from _change_rows(assets.get("change_report", {}))
    counts = ((index[f"points_{name}"], name) for name in ("written", "unchanged", "deleted"))
    yield "vectors", ", ".join(f"{count} {name}" for count, name in counts)
    yield "collection", index["collection"] + ("" if index["live"] else _NOT_LIVE)


def _crawl_rows(pages: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a crawl left in the tables and what it took away, where that is not what it read."""
    if pages["kept_unknown"]:
        yield "pages kept", f"{pages['kept_unknown']} not read now, content of an earlier run"
    if pages["gone"]:
        yield "pages gone", f"{pages['gone']} no longer on the site"
    if pages["cut_short"]:
        yield "crawl cut short", pages["cut_short"]
    if pages["suspect"]:
        yield "crawl suspect", pages["suspect"]


def _evaluation_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How well the site's own questions were answered, where it names some."""
    if "questions" in found:
        first, asked = round(found["fused/hit_at_1"] * found["questions"]), found["questions"]
        right = f"right page first for {first} of {asked} questions"
        yield "evaluation", f"MRR@10 {found['mrr_at_10']:.3f}, {right}; {found['compared']}"


def _change_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What became of the site's pages; of a first run the pages above say all."""
    if "summary" in found and not found["is_first"]:
        yield "changes", found["summary"]


_NOT_LIVE = " (not live yet: the alias follows when every site of the old collection is in it)"


def _cost(dollars: float | None) -> str:
    if dollars is None:
        return "unknown price"
    return f"${dollars:.4f}" if dollars else "$0"


def _by_prefix(numbers: Any, prefix: str) -> str:
    found = {name.removeprefix(prefix): n for name, n in numbers.items() if name.startswith(prefix)}
    return ", ".join(f"{count} {name}" for name, count in found.items())


def print_sites(settings: Settings) -> None:
    """Print the sites of the file and what was stored of each."""
    store = ParquetStore(settings.data)
    rows: list[tuple[str, ...]] = []
    for key, site in load_sites(settings.sites).items():
        counts = [
            str(store.read(known, key).num_rows) if store.exists(known, key) else "-"
            for known in (RAW_PAGES, CHUNKS, EMBEDDINGS)
        ]
        rows.append((key, str(site.folder or site.start_url), str(site.max_pages), *counts))
    table(
        str(settings.sites),
        rows,
        header=("site", "pages from", "max pages", "urls asked", "chunks", "vectors"),
    )
