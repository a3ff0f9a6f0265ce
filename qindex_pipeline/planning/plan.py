"""What a run would do, found out without doing it.

Only what a site says of itself is read (robots.txt, sitemaps, llms.txt), the tables of the last
run, the ledger and the vector cache. No page is fetched, no model is asked, nothing is written.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from qindex_pipeline.crawl.folder import html_files
from qindex_pipeline.crawl.last_run import LastRun
from qindex_pipeline.crawl.pages import Candidate, failed_page
from qindex_pipeline.crawl.robots import Unavailable
from qindex_pipeline.crawl.survey import Survey, surveyed
from qindex_pipeline.crawl.verdict import why_unusable
from qindex_pipeline.errors import QIndexError
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.embeddings import EmbeddingPlan, plan_embeddings
from qindex_pipeline.planning.questions import QuestionPlan, plan_questions, stored_chunks
from qindex_pipeline.retrieval.evaluation.site_questions import read_site_questions
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.fetch.pace import Pace


@dataclass(frozen=True)
class PlannedUrl:
    """A URL that would be asked: why it is in the queue, and whether its validators are sent."""

    url: str
    why: str
    conditional: bool


@dataclass(frozen=True)
class SitePlan:
    """What a run of one site would fetch, ask and embed.

    `problem` says in one line why a run would fail, None that nothing is known to stand in its
    way. `robots` is `open`, `forbids the start page`, `unreachable`, or `not asked` for a folder.
    Counts are of URLs:
    `in_sitemap` in scope, `known` from the last run, `conditional` those of them that can be
    asked whether they have changed, `new` named by sitemap or llms.txt and not known, `forbidden`
    by robots.txt. `least_seconds` is what the interval alone makes of `max_pages` requests.
    `urls` are at most `max_pages`, in the order of asking; links that turn up on the way come
    between the known and the new ones. `further_pages` are the least and the most that a run may
    read of what nobody has read. `questions` and `embeddings` are None where there is a problem.
    """

    site: str
    start_url: str
    render: str
    max_pages: int
    request_budget: int
    problem: str | None = None
    robots: str = "open"
    crawl_delay: float | None = None
    interval_seconds: float = 0.0
    least_seconds: float = 0.0
    in_sitemap: int = 0
    known: int = 0
    conditional: int = 0
    new: int = 0
    forbidden: int = 0
    notes: Sequence[str] = ()
    urls: Sequence[PlannedUrl] = ()
    further_pages: tuple[int, int] = (0, 0)
    questions: QuestionPlan | None = None
    embeddings: EmbeddingPlan | None = None

    def to_json(self, *, with_urls: bool) -> dict[str, Any]:
        """The plan as plain values; `urls` only when they are asked for."""
        values = asdict(self)
        return values if with_urls else {name: values[name] for name in values if name != "urls"}


def plan_sites(pipeline: Pipeline, sites: Iterable[Site]) -> list[SitePlan]:
    """Plan a run of each of `sites`, in their order; one that cannot be read has a problem."""

    async def together() -> list[SitePlan]:
        return await asyncio.gather(*(_plan(pipeline, site) for site in sites))

    fetched = asyncio.run(together())
    return [_with_models(pipeline, plan) for plan in fetched]


def _with_models(pipeline: Pipeline, plan: SitePlan) -> SitePlan:
    """The plan with what would be asked and embedded, or with why a run could not."""
    if plan.problem is not None:
        return plan
    try:
        chunks = stored_chunks(pipeline, plan.site)
        if not chunks:  # the last run ended before it cut its pages
            least, most = plan.further_pages
            plan = replace(plan, further_pages=(least + plan.known, most + plan.known))
        questions = plan_questions(pipeline, plan.site, chunks, plan.further_pages)
        embeddings = plan_embeddings(pipeline, plan.site, chunks, questions, plan.further_pages)
    except QIndexError as error:
        return replace(plan, problem=str(error))
    return replace(plan, questions=questions, embeddings=embeddings)


async def _plan(pipeline: Pipeline, site: Site) -> SitePlan:
    plan = SitePlan(
        site=site.key,
        start_url=str(site.folder or site.start_url),
        render=site.render,
        max_pages=site.max_pages,
        request_budget=site.request_budget,
    )
    try:
        read_site_questions(site)
        last = LastRun(pipeline.last_pages(site.key))
        async with surveyed(site) as (survey, fetcher):
            return _filled(plan, site, survey, last, fetcher.pace)
    except QIndexError as error:
        return replace(plan, problem=str(error))


def _filled(plan: SitePlan, site: Site, survey: Survey, last: LastRun, pace: "Pace") -> SitePlan:
    urls = [_planned(site, candidate, last) for candidate in _queue(site, survey, last)]
    allowed = [url for url in urls if survey.robots.refusal(url.url) is None]
    interval, least = _pace_of(survey, pace, site.max_pages)
    return replace(
        plan,
        problem=_problem(site, survey),
        robots=_robots(survey) if site.folder is None else "not asked",
        crawl_delay=survey.robots.of(survey.source.starts[0]).crawl_delay,
        interval_seconds=interval,
        least_seconds=least,
        in_sitemap=len(survey.sitemap),
        known=sum(last.row(url.url) is not None for url in urls),
        conditional=sum(url.conditional for url in urls),
        new=sum(url.why in _NAMED_BY_SITE for url in urls),
        forbidden=len(urls) - len(allowed),
        notes=survey.notes,
        urls=allowed[: site.max_pages],
        further_pages=_further(site, allowed, last),
    )


def _further(site: Site, allowed: Sequence[PlannedUrl], last: LastRun) -> tuple[int, int]:
    """How many pages that nobody has read a run may read; links may lead a first crawl to more.

    A folder has no more pages than files.
    """
    known = sum(last.row(url.url) is not None for url in allowed)
    room = max(0, site.max_pages - known)
    found = min(len(allowed) - known, room)
    if known or site.sitemap == "only":
        return found, found
    return found, room if site.folder is None else min(room, len(html_files(site.folder)))


_NAMED_BY_SITE = frozenset({"sitemap", "llms.txt"})


def _queue(site: Site, survey: Survey, last: LastRun) -> list[Candidate]:
    """What a crawl would ask if no page held a link."""
    frontier = survey.frontier(site, last)
    frontier.add(survey.seeds)
    return frontier.take(len(frontier))


def _planned(site: Site, candidate: Candidate, last: LastRun) -> PlannedUrl:
    """Validators are not sent for the browser: a shell may be the same while its data is not."""
    known = last.known(candidate.url)
    conditional = (
        site.render != "browser"
        and known is not None
        and any((known.validators.etag, known.validators.last_modified))
    )
    return PlannedUrl(candidate.url, candidate.discovered_by, conditional)


def _robots(survey: Survey) -> str:
    start = survey.source.starts[0]
    robots = survey.robots.of(start)
    if isinstance(robots, Unavailable):
        return "unreachable"
    return "open" if robots.allows(start) else "forbids the start page"


def _problem(site: Site, survey: Survey) -> str | None:
    """What a run would say of the start page if robots.txt keeps it from being asked."""
    start = Candidate(survey.source.starts[0], None, 0, "start")
    fetch = survey.robots.refused(start.url)
    if fetch is None:
        return None
    return why_unusable(site, [failed_page(site.key, start, fetch, fetch.outcome, fetch.error)])


def _pace_of(survey: Survey, pace: "Pace", requests: int) -> tuple[float, float]:
    """Seconds between two requests, and at least for all of them; hosts are asked side by side."""
    scheme = survey.source.root.partition("://")[0]
    hosts = survey.source.scope.hosts
    interval = min(pace.interval_of(f"{scheme}://{host}/") for host in hosts)
    of_one_host = -(-requests // len(hosts))
    return interval, round((of_one_host - 1) * interval, 1)
