"""What `qindex doctor` looks at before a run costs anything."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from qindex_pipeline.crawl.fetch.access import Access
from qindex_pipeline.crawl.folder import seeds
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import QIndexError, UsageError
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.object_store import Objects
from qindex_pipeline.profiles import Models, resolve_models
from qindex_pipeline.questions.asking.budget import check_cap
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.human_file import human_file, orphans, read_human_file
from qindex_pipeline.retrieval.answering.opening import open_answerer
from qindex_pipeline.retrieval.evaluation.site_questions import read_site_questions
from qindex_pipeline.settings import Settings, unknown_variables
from qindex_pipeline.sites import Site, load_sites


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    good: bool
    what: str
    detail: str


def examine(folder: Path) -> list[Finding]:
    """Look at everything that a run needs; every line of trouble says what to mend."""
    try:
        settings = Settings.from_env()
        models = resolve_models(settings)
    except UsageError as error:
        return [Finding(False, "settings", str(error))]
    return [
        Finding(True, "working folder", str(folder)),
        *(Finding(False, "variable", line) for line in unknown_variables()),
        Finding(True, "models", models.line),
        *_looked_at(settings, models),
        *_looked_at_sites(settings),
    ]


def _looked_at(settings: Settings, models: Models) -> Iterator[Finding]:
    looks = {
        "sites file": lambda: _sites(settings),
        "data root": lambda: _data(settings),
        "state folder": lambda: _state(settings),
        "generator": lambda: _generator(settings, models),
        "embedder": lambda: _embedder(settings, models),
        "answerer": lambda: _answerer(settings, models),
        "index": lambda: _index(settings, models),
    }
    for what, look in looks.items():
        try:
            yield Finding(True, what, look())
        except (QIndexError, OSError) as error:
            yield Finding(False, what, str(error))


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


def _state(settings: Settings) -> str:
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    if not os.access(settings.state_dir, os.W_OK):
        raise UsageError(f"{settings.state_dir} cannot be written: set QINDEX_STATE")
    return f"{settings.state_dir} can be written"


def _generator(settings: Settings, models: Models) -> str:
    spec = open_generator(models.generator, settings).spec
    prices = Prices.from_settings(settings)
    check_cap(spec, prices, settings.max_cost_usd)
    return f"{spec} ({prices.source(spec)})"


def _embedder(settings: Settings, models: Models) -> str:
    embedder = open_embedder(models.embedder, settings, models.embed_dim)
    dimension = embedder.embed(["How do I know that it works?"]).shape[1]
    return f"{embedder.spec} gives vectors of {dimension}"


def _answerer(settings: Settings, models: Models) -> str:
    open_answerer(models.answerer, settings)
    return models.answerer


def _index(settings: Settings, models: Models) -> str:
    where = settings.qdrant_url or f"embedded in {settings.state_dir / 'index'}"
    collection = open_engine(settings).open(models.collection_name)
    if collection is None:
        return f"{models.collection_name} ({where}): not built yet, `qindex ingest URL` builds it"
    sites = ", ".join(f"{site} ({count} points)" for site, count in collection.sites().items())
    collection.close()
    return f"{models.collection_name} ({where}): {sites}"
