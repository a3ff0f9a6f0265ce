"""How `qindex plan` prints a plan: what is fetched, asked and embedded, and what it costs."""

import math
from collections.abc import Iterator

from qindex_pipeline.console import table, write_line
from qindex_pipeline.planning.embeddings import EmbeddingPlan
from qindex_pipeline.planning.plan import SitePlan
from qindex_pipeline.planning.questions import Calls, QuestionPlan


def print_plan(plan: SitePlan, *, with_urls: bool) -> None:
    """Print what a run of one site would do; URLs one a line, so that other tools can read."""
    table(plan.site, list(plan_rows(plan)))
    if with_urls:
        for url in plan.urls:
            how = f"{url.why}, if changed" if url.conditional else url.why
            write_line(f"{how:<19} {url.url}")


def plan_rows(plan: SitePlan) -> Iterator[tuple[str, str]]:
    """The table of one site's plan."""
    if plan.questions is not None and plan.questions.anew is not None:
        yield "ANEW", plan.questions.anew
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
    if plan.questions is not None:
        yield from _question_rows(plan.questions, plan.further_pages)
    if plan.embeddings is not None:
        yield from _embedding_rows(plan.embeddings)


_RENDERED = {
    "http": "over HTTP",
    "browser": "in a browser",
    "auto": "over HTTP, in a browser where only JavaScript fills the page",
}


def _robots(plan: SitePlan) -> str:
    delay = "" if plan.crawl_delay is None else f", Crawl-delay {plan.crawl_delay:g} s"
    forbidden = f", forbids {plan.forbidden} of these URLs" if plan.forbidden else ""
    return plan.robots + delay + forbidden


def _question_rows(plan: QuestionPlan, further: tuple[int, int]) -> Iterator[tuple[str, str]]:
    yield "questions by", f"{plan.generator}, {plan.prompt_version}"
    if plan.human:
        yield "people's questions", f"{plan.human}, for nothing"
    yield "chunks stored", _stored(plan)
    if further[1]:
        low, high = plan.chunks_a_page
        pages = _range(*further)
        yield (
            "unread pages",
            f"{pages}, of {low} to {high} chunks each (measured on ten docs sites)",
        )
    yield "LLM calls", _range(plan.least.calls, plan.most.calls)
    if plan.most.calls:
        yield "tokens", _tokens(plan.least, plan.most)
        batch = ", half price in a batch" if plan.batch else ""
        yield "cost", f"{_cost(plan.least.cost_usd, plan.most.cost_usd)} ({plan.price}{batch})"
    if plan.max_cost_usd is not None:
        yield "cap", _cap(plan, plan.max_cost_usd)


def _stored(plan: QuestionPlan) -> str:
    counts = {
        "answered in the ledger": plan.answered,
        "edited and covered by kept questions": plan.kept,
        "asked in vain too often": plan.given_up,
        "to be asked about": plan.stored.calls,
    }
    said = [f"{count} {what}" for what, count in counts.items() if count]
    if plan.revised:
        said[-1] += f" ({plan.revised} beside kept questions)"
    repeated = plan.chunks - plan.inputs
    if repeated:
        said.append(f"{repeated} like others")
    return f"{plan.chunks}" + (f": {', '.join(said)}" if said else "")


def _cap(plan: QuestionPlan, cap: float) -> str:
    if plan.fits_cap:
        return f"${cap:g} a run: stays below"
    return f"${cap:g} a run: would stop there, {_dollars(plan.most.cost_usd or 0.0)} may be needed"


def _embedding_rows(plan: EmbeddingPlan) -> Iterator[tuple[str, str]]:
    least, most = plan.least, plan.most
    yield "embedded by", plan.embedder
    yield "texts stored", f"{plan.texts}, {plan.cached} of them have a vector"
    yield "texts to embed", _range(least.texts, most.texts)
    if most.texts:
        yield "their tokens", f"about {_range(least.tokens, most.tokens)}"
        yield "their cost", f"{_cost(least.cost_usd, most.cost_usd)} ({plan.price})"


def _tokens(least: Calls, most: Calls) -> str:
    prompt = _range(least.tokens_in, most.tokens_in)
    return f"about {prompt} in, {_range(least.tokens_out, most.tokens_out)} out"


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _cost(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return "unknown"
    low, high = _dollars(least), _dollars(most)
    return f"about {low}" if low == high else f"about {low} to {high}"


def _dollars(dollars: float) -> str:
    # Rounded up: what costs something is never said to cost nothing.
    return f"${math.ceil(dollars * 10_000) / 10_000:.4f}" if dollars else "$0"
