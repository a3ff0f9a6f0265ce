"""The tables that commands print: a run's closing table, the sites, the doctor's findings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qindex_pipeline.console import table, write_line
from qindex_pipeline.doctor import Finding
from qindex_pipeline.plan import SitePlan
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
    yield "texts embedded", f"{embedded['texts_embedded']} by {embedded['embedder']}"
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


def print_findings(findings: Sequence[Finding]) -> None:
    """Print the doctor's findings."""
    rows = [("ok" if item.good else "MEND", item.what, item.detail) for item in findings]
    table("qindex doctor", rows)


def print_plan(plan: SitePlan, *, with_urls: bool) -> None:
    """Print what a run of one site would fetch; URLs one a line, so that other tools can read."""
    table(plan.site, list(plan_rows(plan)))
    if with_urls:
        for url in plan.urls:
            how = f"{url.why}, if changed" if url.conditional else url.why
            write_line(f"{how:<19} {url.url}")


def plan_rows(plan: SitePlan) -> Iterator[tuple[str, str]]:
    """The table of one site's plan."""
    yield "pages from", plan.start_url
    yield "fetched", _RENDERED[plan.render]
    if plan.problem is not None:
        yield "PROBLEM", plan.problem
        return
    yield "robots.txt", _robots(plan)
    yield "URLs in sitemaps", str(plan.in_sitemap)
    yield from (("note", note) for note in plan.notes)
    yield "known pages", f"{plan.known}, {plan.conditional} of them fetched only if changed"
    yield "new URLs", f"{plan.new} in sitemaps or llms.txt, further ones on the pages"
    yield "pages", f"{plan.max_pages} at most"
    yield "request budget", str(plan.request_budget)
    least = f"{plan.max_pages} pages take at least {plan.least_seconds:g} s"
    yield "interval", f"{plan.interval_seconds:g} s: {least}"


_RENDERED = {
    "http": "over HTTP",
    "browser": "in a browser",
    "auto": "over HTTP, in a browser where only JavaScript fills the page",
}


def _robots(plan: SitePlan) -> str:
    delay = "" if plan.crawl_delay is None else f", Crawl-delay {plan.crawl_delay:g} s"
    forbidden = f", forbids {plan.forbidden} of these URLs" if plan.forbidden else ""
    return plan.robots + delay + forbidden
