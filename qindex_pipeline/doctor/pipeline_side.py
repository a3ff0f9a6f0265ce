"""What a run needs beside the query side: sites, data root, generator, questions, a browser."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from qindex_pipeline.crawl.fetch.access import Access
from qindex_pipeline.crawl.folder import seeds
from qindex_pipeline.doctor.finding import Finding, looked_at
from qindex_pipeline.errors import QIndexError, UsageError
from qindex_pipeline.object_store import Objects
from qindex_pipeline.profiles import Models
from qindex_pipeline.questions.asking.budget import check_cap
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.human_file import human_file, orphans, read_human_file
from qindex_pipeline.retrieval.evaluation.site_questions import read_site_questions
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, load_sites


def looked_at_pipeline_side(settings: Settings, models: Models) -> Iterator[Finding]:
    """What stands in the way of a run."""
    yield from looked_at(
        {
            "sites file": lambda: _sites(settings),
            "data root": lambda: _data(settings),
            "generator": lambda: _generator(settings, models),
        }
    )
    yield from _looked_at_sites(settings)


def _sites(settings: Settings) -> str:
    sites = load_sites(settings.sites)
    return f"{settings.sites}: {', '.join(sites) or 'no site yet, `qindex ingest URL` adds one'}"


def _looked_at_sites(settings: Settings) -> Iterator[Finding]:
    """What stands in the way of each site's crawl, and the browser if one of them needs it."""
    try:
        sites = load_sites(settings.sites)
    except UsageError:
        return  # said of the sites file already
    for site in sites.values():
        yield from (Finding(False, "site", line) for line in _problems(site))
    yield from _human_questions(settings, sites)
    rendered = [site.key for site in sites.values() if site.render != "http"]
    if rendered:
        yield _browser(settings.chromium, ", ".join(rendered))


def _human_questions(settings: Settings, sites: Mapping[str, Site]) -> Iterator[Finding]:
    """Files of people's questions that are malformed, or that nobody reads."""
    for key in sites:
        try:
            read_human_file(human_file(settings.questions, key))
        except UsageError as error:
            yield Finding(False, "people's questions", str(error))
    for file in orphans(settings.questions, sites):
        yield Finding(
            False,
            "people's questions",
            f"{file} belongs to no site of {settings.sites}: name it <site key>.yaml, or delete it",
        )


def _problems(site: Site) -> Iterator[str]:
    from qindex_pipeline.crawl.extract.extraction import check_selector

    try:
        Access.of(site, os.environ)
        if site.folder is not None:
            seeds(site.folder, site.key)
    except QIndexError as error:
        yield str(error)
    try:
        read_site_questions(site)
    except UsageError as error:
        yield str(error)
    selectors = [("drop_selectors", selector) for selector in site.drop_selectors]
    if site.content_selector is not None:
        selectors.append(("content_selector", site.content_selector))
    for option, selector in selectors:
        problem = check_selector(selector)
        if problem is not None:
            yield f"site {site.key!r}: {option}: {problem}; mend it in the sites file"


def _browser(named: str | None, sites: str) -> Finding:
    """Whether there is a Chromium to start; none is started."""
    executable = named or _playwrights_own()
    if os.access(executable, os.X_OK) and Path(executable).is_file():
        return Finding(True, "browser", f"{executable} (for {sites})")
    what = f"QINDEX_CHROMIUM={named} is no program" if named else f"{executable} does not exist"
    remedy = "name a Chromium in QINDEX_CHROMIUM, or run `playwright install chromium`"
    return Finding(False, "browser", f"{what}, but {sites} needs a browser: {remedy}")


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _data(settings: Settings) -> str:
    if not settings.is_on_object_store:
        return settings.data
    probe = Objects.under(settings.data, "state/doctor")
    probe.put("probe", b"")
    probe.delete("probe")
    return f"{settings.data} can be written"


def _generator(settings: Settings, models: Models) -> str:
    spec = open_generator(models.generator, settings).spec
    prices = Prices.from_settings(settings)
    check_cap(spec, prices, settings.max_cost_usd)
    return f"{spec} ({prices.source(spec)})"
