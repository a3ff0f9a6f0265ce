"""The page's parts about money and time: what questions cost, beside what they gain."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.results import Results
from evaluation.writing.words import SETS, SITES, gained, money, rounded, table
from qindex_pipeline.planning.questions import CHUNKS_A_PAGE
from qindex_pipeline.questions.asking.prices import CACHED_SHARE, PRICES_OF, Prices
from qindex_pipeline.questions.generators.generator import Usage
from qindex_pipeline.retrieval.evaluation.measures import Interval

Row = Mapping[str, Any]

PAGES = 1_000
"""What costs are told for."""

CACHED_FROM = 4_096
"""Tokens from which on Anthropic caches the beginning of a prompt to Haiku 4.5."""

PRICES = Prices({})
"""List prices alone, whatever the environment says."""


def cost_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    cost = results.raw["cost"]
    plan = cost["git"]["plans"]["api"]
    yield "bert", _span([figures["bert_tokens_a_rough_token"] for figures in cost.values()])
    yield "counts", table(("", *(SITES[site] for site in cost)), _counts(list(cost.values())))
    yield "profiles", table(("a site like", *(SITES[site] for site in cost)), _profiles(results))
    yield "prices_of", PRICES_OF
    for name, chunks in zip(("least", "most"), CHUNKS_A_PAGE, strict=True):
        yield f"{name}_chunks", str(chunks)
        yield f"{name}_dollars", money(dollars(plan) / plan["calls"] * chunks * PAGES)
    yield "caching", _caching(cost["git"])
    yield "offline_price", _offline_price(results)
    yield "paid_price", _paid_price(results)


def dollars(plan: Row, *, batch: bool = False) -> float:
    """What the calls of a first run cost at list prices."""
    usage = Usage(plan["tokens_in"], plan["tokens_out"])
    return _priced(plan["generator"], usage, batch=batch)


def _priced(spec: str, usage: Usage, *, batch: bool = False) -> float:
    cost = PRICES.cost(spec, usage, batch=batch)
    assert cost is not None, f"{spec} has no list price"
    return cost


def per_pages(figures: Row, amount: float) -> float:
    """An amount of a whole site, for `PAGES` of its pages."""
    return amount * PAGES / figures["pages"]


def api_range(results: Results) -> str:
    """Least and most that a model's questions cost for `PAGES` pages of the sites."""
    costs = [
        per_pages(figures, dollars(figures["plans"]["api"]))
        for figures in results.raw["cost"].values()
    ]
    return f"{money(min(costs))} to {money(max(costs))}"


def _counts(sites: list[Row]) -> Iterator[list[str]]:
    plans = [figures["plans"]["api"] for figures in sites]
    yield ["pages with content", *(f"{figures['pages']:,}" for figures in sites)]
    yield ["chunks", *(f"{figures['chunks']:,}" for figures in sites)]
    yield ["of them repeat others", *(f"{figures['repeats']:,}" for figures in sites)]
    yield ["calls of a model: chunks to ask about", *(f"{plan['calls']:,}" for plan in plans)]
    yield [
        f"calls per {PAGES:,} pages",
        *(rounded(per_pages(f, f["plans"]["api"]["calls"])) for f in sites),
    ]
    yield ["prompt tokens of a call", *(f"{p['tokens_in'] / p['calls']:,.0f}" for p in plans)]
    yield ["of them the same in every call", *(f"{plan['fixed_tokens']:,}" for plan in plans)]
    yield ["answer tokens of a call", *(f"{p['tokens_out'] / p['calls']:,.0f}" for p in plans)]
    yield ["questions by rules, accepted", *(f"{f['accepted_of_rules']:,}" for f in sites)]
    yield ["vectors of passages", *(f"{f['vectors']['passage']:,}" for f in sites)]
    yield ["vectors of those questions", *(f"{f['vectors']['question']:,}" for f in sites)]


def _profiles(results: Results) -> Iterator[list[str]]:
    cost = results.raw["cost"]
    sites = list(cost.values())
    api, local = ([figures["plans"][name] for figures in sites] for name in ("api", "local"))
    paid = list(zip(sites, api, strict=True))
    yield [f"api: `{api[0]['generator']}`", *(money(per_pages(f, dollars(p))) for f, p in paid)]
    yield [
        "api, in batches",
        *(money(per_pages(figures, dollars(plan, batch=True))) for figures, plan in paid),
    ]
    yield [f"api: `{api[0]['embedder']}`", *(_embedding(figures, plan) for figures, plan in paid)]
    yield [
        f"local: `{local[0]['generator']}`",
        *(
            f"$0; {_millions(per_pages(figures, plan['tokens_in']))} tokens read, "
            f"{_millions(per_pages(figures, plan['tokens_out']))} written"
            for figures, plan in zip(sites, local, strict=True)
        ),
    ]
    minutes = per_pages(cost["git"], results.raw["ingest"]["cpu_seconds"]["process"]) / 60
    yield [
        "offline: rules, MiniLM, everything",
        *(
            f"$0; {rounded(minutes)} CPU minutes" if site == "git" else "$0; time not measured"
            for site in cost
        ),
    ]


def _embedding(figures: Row, plan: Row) -> str:
    least, most = (
        money(per_pages(figures, _priced(plan["embedder"], Usage(plan[tokens]))))
        for tokens in ("passage_tokens", "most_tokens")
    )
    return f"{least} for passages, at most {most} with questions"


def _caching(figures: Row) -> str:
    plan = figures["plans"]["api"]
    fixed, provider = plan["fixed_tokens"], plan["generator"].partition(":")[0]
    if fixed < CACHED_FROM:
        return (
            f"Prompt caching takes nothing off: what is the same in every call has about {fixed:,} "
            f"tokens, and the provider caches from {CACHED_FROM:,} on."
        )
    cached = _priced(plan["generator"], Usage(fixed * plan["calls"])) * (1 - CACHED_SHARE[provider])
    return f"Prompt caching takes up to {money(per_pages(figures, cached))} off."


def _offline_price(results: Results) -> str:
    vectors = results.raw["cost"]["git"]["vectors"]
    times = 1 + vectors["question"] / vectors["passage"]
    seconds = seconds_of_questions(results)
    changes: list[str] = []
    for name in ("git", "git, keywords"):
        gain = results.gain(name, "fused", "no questions")[results.mrr(name)]
        price = _per_point(gain, seconds)
        changes.append(f"They change the MRR of {SETS[name]} by {gained(gain)}: {price}.")
    return (
        "**Offline.** On git's manual the rules' questions take no fee and "
        f"{_of_seconds(results)} CPU seconds per {PAGES:,} pages, and the index has {times:.1f} "
        f"times as many vectors. {' '.join(changes)}"
    )


def _of_seconds(results: Results) -> str:
    """`about 450 of the 2,100`."""
    whole = per_pages(results.raw["cost"]["git"], results.raw["ingest"]["cpu_seconds"]["process"])
    return f"about {rounded(seconds_of_questions(results))} of the {rounded(whole)}"


def _per_point(gain: Interval, seconds: float) -> str:
    if gain.low > 0:
        return f"$0 and {rounded(seconds / (100 * gain.difference))} CPU seconds a point"
    if gain.high < 0:
        return "there is no price for a point that is lost"
    return "the interval holds zero, and a price per point would divide by noise"


def rules_price(results: Results) -> str:
    """What the rules' questions cost, in a few words."""
    return f"no fee, {_of_seconds(results)} CPU seconds per {PAGES:,} pages like git's manual"


def _paid_price(results: Results) -> str:
    return (
        f"**api and local.** {api_range(results)} per {PAGES:,} pages at list price (api), half in "
        "batches, or hours of a machine (local). No gain of such questions was measured, so there "
        "is no price per point."
    )


def seconds_of_questions(results: Results) -> float:
    """CPU seconds of proposing and embedding the rules' questions, for `PAGES` pages of git's.

    Stages embed all texts together; how much of that questions take follows from the samples.
    """
    ingest = results.raw["ingest"]
    seconds, samples = ingest["cpu_seconds"], ingest["embedding"]
    taken = {kind: sample["sample_cpu_seconds"] for kind, sample in samples.items()}
    share = taken["question"] / sum(taken.values())
    embedding = seconds["grounded_questions"] + seconds["embeddings"]
    whole = seconds["candidate_questions"] + share * embedding
    return per_pages(results.raw["cost"]["git"], whole)


def _millions(tokens: float) -> str:
    return f"{rounded(tokens / 1e6)} million"


def _span(values: list[float]) -> str:
    low, high = (f"{each:.2f}" for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
