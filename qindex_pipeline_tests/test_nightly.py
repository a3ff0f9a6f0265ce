"""Nights after the first one, through Dagster: what is paid for again, and what may be lost."""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from qindex_pipeline.crawl import Bodies
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.ingest import ingest
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.progress import silent
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CHUNKS,
    DOCUMENTATION_GAPS,
    EMBEDDINGS,
    EVALUATION,
    PAGE_BODIES,
    RAW_PAGES,
    TABLES,
)
from qindex_pipeline_tests.chain import materialize, metadata
from qindex_pipeline_tests.command import qindex
from qindex_pipeline_tests.crawl.hostile import Reply, Route, Server, conditional, page, serving
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.small_disk import needs_a_disk, small_disk

KEY = "docs.lantern.dev"
PAGES = 10
PATHS = [f"/p{n}" for n in range(1, PAGES)]


def manual(number: int, *links: str) -> Reply:
    """A page that answers a question of its own."""
    return page(
        f"To trim wick number {number}, run the command trim{number} of the lantern. It", *links,
        title=f"Wick {number}",
    )  # fmt: skip


def site_routes() -> dict[str, Route]:
    routes: dict[str, Route] = {path: conditional(manual(n)) for n, path in enumerate(PATHS, 1)}
    return {"/": conditional(manual(0, *PATHS)), **routes}


@dataclass(frozen=True)
class Published:
    """A site that was published once, on a server that still serves it."""

    server: Server
    settings: Settings
    site: Site
    ollama: OllamaServer

    @property
    def llm_calls(self) -> int:
        """Calls that the model's server has seen so far."""
        return sum("/chat/completions" in request.path for request in self.ollama.requests)

    def night(self, **settings: Any) -> dg.ExecuteInProcessResult:
        return materialize(self.settings.model_copy(update=settings), self.site)

    def column(self, table: Any, name: str) -> list[Any]:
        return ParquetStore(self.settings.data).read(table, KEY)[name].to_pylist()

    def points(self) -> set[str]:
        """The ids of the embeddings table that the collection holds, after a look at its count."""
        tools = Pipeline(self.settings, {KEY: self.site})
        collection = open_engine(self.settings).open(tools.models.collection_name)
        assert collection is not None
        found = set(collection.retrieve(self.column(EMBEDDINGS, "point_id")))
        assert collection.sites() == {KEY: len(found)}
        collection.close()
        return found

    def tables(self) -> dict[str, bytes]:
        files = Path(self.settings.data).glob("*/*.parquet")
        return {str(file.relative_to(self.settings.data)): file.read_bytes() for file in files}

    def chunks_of(self, *paths: str) -> set[str]:
        urls = {self.server.base + path for path in paths}
        store = ParquetStore(self.settings.data)
        rows = store.read(CHUNKS, KEY).to_pylist()
        return {row["chunk_id"] for row in rows if row["url"] in urls}


def settings_in(folder: Path, ollama: OllamaServer) -> Settings:
    """The offline profile, but for questions that a model on a server writes."""
    return Settings(
        profile="offline",
        generator="ollama:qwen2.5:14b",
        ollama_url=ollama.url,
        data=str(folder / "data"),
        sites=folder / "sites.yaml",
    )


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """One server and one first run for all tests; each works on a copy of what it left."""
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(site_routes()) as server,
        OllamaServer() as ollama,
    ):
        for name in tuple(os.environ):
            if name.startswith(("QINDEX_", "QDRANT_", "OPENAI_", "ANTHROPIC_")):
                patch.delenv(name)
        settings = settings_in(tmp_path_factory.mktemp("first"), ollama)
        site = Site(key=KEY, start_url=server.base + "/", retries=0)
        add_site(settings.sites, site)
        assert materialize(settings, site).success
        yield Published(server, settings, site, ollama)


@pytest.fixture
def published(first_night: Published, tmp_path: Path) -> Iterator[Published]:
    shutil.copytree(Path(first_night.settings.data).parent, tmp_path, dirs_exist_ok=True)
    first_night.server.forget()
    ollama = first_night.ollama
    settings = settings_in(tmp_path, ollama)
    yield Published(first_night.server, settings, first_night.site, ollama)
    first_night.server.routes.clear()
    first_night.server.routes |= site_routes()


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {check.check_name: check for check in result.get_asset_check_evaluations()}


def test_an_unchanged_site_costs_one_small_request_a_page(published: Published) -> None:
    chunks, points = published.column(CHUNKS, "chunk_id"), published.points()
    calls = published.llm_calls
    assert calls >= PAGES
    result = published.night()
    assert result.success
    assert published.llm_calls == calls
    seen = metadata(result)
    assert seen["raw_pages"]["not_modified"] == PAGES
    assert set(published.column(RAW_PAGES, "status")) == {304}
    assert published.column(CHUNKS, "chunk_id") == chunks
    assert len(chunks) == PAGES
    assert seen["candidate_questions"]["llm_calls"] == 0
    assert seen["embeddings"]["texts_embedded"] == 0
    numbers = seen["question_index"]
    assert (numbers["points_written"], numbers["points_deleted"]) == (0, 0)
    assert numbers["points_unchanged"] == len(points)
    assert published.points() == points
    asked = published.server.asked
    assert {path: asked[path] for path in ("/", *PATHS)} == dict.fromkeys(("/", *PATHS), 1)


def test_an_edited_page_costs_its_own_chunks_only(published: Published) -> None:
    before = set(published.column(CHUNKS, "chunk_id"))
    edited, calls = published.chunks_of("/p3"), published.llm_calls
    published.server.routes["/p3"] = conditional(manual(33))
    seen = metadata(published.night())
    assert seen["raw_pages"]["not_modified"] == PAGES - 1
    assert before - set(published.column(CHUNKS, "chunk_id")) == edited
    assert len(set(published.column(CHUNKS, "chunk_id")) - before) == 1
    assert seen["candidate_questions"]["llm_calls"] == published.llm_calls - calls == 1


def test_two_fifths_of_the_pages_failing_loses_nothing(published: Published) -> None:
    before, points = published.tables(), published.points()
    for path in PATHS[1:8:2]:
        published.server.routes[path] = Reply(b"<h1>Oops</h1>", 500)
    result = published.night()
    assert result.success
    assert not [check for check in checks(result).values() if not check.passed]
    seen = metadata(result)
    assert seen["raw_pages"]["outcome/http_5xx"] == 4
    assert seen["raw_pages"]["kept_unknown"] == 4
    assert seen["raw_pages"]["gone"] == 0
    assert seen["question_index"]["points_deleted"] == 0
    assert published.points() == points
    after = published.tables()
    assert after[f"chunks/{KEY}.parquet"] == before[f"chunks/{KEY}.parquet"]
    assert after[f"page_bodies/{KEY}.parquet"] == before[f"page_bodies/{KEY}.parquet"]


@pytest.mark.parametrize("everything", [Reply(b"", 500), Reply(b"", 404), Reply(b"", 403)])
def test_a_site_that_is_down_changes_no_table(published: Published, everything: Reply) -> None:
    before, points = published.tables(), published.points()
    for path in ("/", *PATHS):
        published.server.routes[path] = everything
    result = published.night()
    assert not result.success
    assert checks(result)["pages_fetched"].passed is False
    assert "\n" not in (checks(result)["pages_fetched"].description or "\n")
    assert published.tables() == before
    assert published.points() == points


def test_a_host_that_is_gone_is_one_line_and_exit_1(published: Published, tmp_path: Path) -> None:
    with serving({}) as gone:
        closed = gone.base + "/"
    site = published.site.model_copy(update={"start_url": closed})
    before, points = published.tables(), published.points()
    add_site(published.settings.sites, site)
    done = qindex(tmp_path, "--quiet", "ingest", closed, "--site", KEY, QINDEX_PROFILE="offline")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert KEY in line
    assert closed in line
    assert "refuses the connection" in line
    assert published.tables() == before
    assert published.points() == points


@pytest.mark.parametrize("reply", [Reply(b"", 404), Reply(b"", 410)])
def test_exactly_the_pages_that_were_removed_leave_the_index(
    published: Published, reply: Reply
) -> None:
    removed = ["/p2", "/p5", "/p9"]
    leaving = published.chunks_of(*removed)
    ids, chunks = (published.column(EMBEDDINGS, name) for name in ("point_id", "chunk_id"))
    before = dict(zip(ids, chunks, strict=True))
    for path in removed:
        published.server.routes[path] = reply
    result = published.night()
    seen = metadata(result)
    assert result.success
    assert not [check for check in checks(result).values() if not check.passed]
    assert seen["raw_pages"]["gone"] == 3
    staying = {point for point, chunk in before.items() if chunk not in leaving}
    assert len(leaving) == 3
    assert set(published.column(CHUNKS, "chunk_id")) == set(before.values()) - leaving
    assert published.points() == staying
    assert seen["question_index"]["points_deleted"] == len(before) - len(staying)
    assert seen["question_index"]["points_written"] == 0


def test_a_suspect_night_warns_and_deletes_only_when_that_is_asked_for(
    published: Published,
) -> None:
    chunks, points = published.column(CHUNKS, "chunk_id"), published.points()
    for path in PATHS[:6]:
        published.server.routes[path] = Reply(b"", 404)
    suspect = published.night()
    assert suspect.success
    check = checks(suspect)["crawl_is_not_suspect"]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "the crawl read 4 pages, the last one left 10" in (check.description or "")
    assert metadata(suspect)["question_index"]["points_deleted"] == 0
    assert published.column(CHUNKS, "chunk_id") == chunks
    assert published.points() == points

    accepted = published.night(suspect_share=0)
    assert accepted.success
    assert checks(accepted)["crawl_is_not_suspect"].passed
    assert metadata(accepted)["raw_pages"]["gone"] == 6
    assert len(published.column(CHUNKS, "chunk_id")) == 4
    assert published.points() < points


DISK_BYTES = 4 * 1024 * 1024
NOISE = random.Random(7)


def noise(words: int) -> str:
    """Text that no compression makes much smaller."""
    return " ".join(f"{NOISE.getrandbits(64):x}" for _ in range(words))


@dataclass(frozen=True)
class FullDisk:
    """What a night left that ran out of space: the tables before it, and the line it ended with."""

    published: Published
    before: dict[str, bytes]
    files: list[str]
    line: str

    @property
    def changed(self) -> set[str]:
        after = self.published.tables()
        return {name.partition("/")[0] for name, data in self.before.items() if after[name] != data}


@contextmanager
def night_on_a_full_disk(published: Published, folder: Path, free: int) -> Iterator[FullDisk]:
    """A second night that finds `free` bytes for nine pages that need more."""
    with small_disk(folder / "disk", DISK_BYTES) as disk:
        state = Path(shutil.copytree(Path(published.settings.data) / "state", folder / "state"))
        data = disk / "data"
        shutil.copytree(published.settings.data, data, ignore=shutil.ignore_patterns("state"))
        settings = published.settings.model_copy(update={"data": str(data), "state": state})
        full = replace(published, settings=settings)
        before = full.tables()
        full.server.routes |= {path: conditional(page(noise(3000))) for path in PATHS}
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * (shutil.disk_usage(disk).free - free))
        with pytest.raises(WorkError) as caught:
            ingest(settings, full.site, silent)
        files = sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_file())
        ballast.unlink()
        yield FullDisk(full, before, files, str(caught.value))


BEFORE_THE_FIRST_TABLE = 64 * 1024
BETWEEN_TWO_TABLES = 700 * 1024  # the HTML fits, the pages do not


@needs_a_disk
@pytest.mark.parametrize("free", [BEFORE_THE_FIRST_TABLE, BETWEEN_TWO_TABLES])
def test_a_full_disk_leaves_every_table_readable_and_nothing_half_written(
    published: Published, tmp_path: Path, free: int
) -> None:
    with night_on_a_full_disk(published, tmp_path, free) as night:
        assert night.files == sorted(night.before)
        assert night.changed == (set() if free == BEFORE_THE_FIRST_TABLE else {PAGE_BODIES.name})
        store = ParquetStore(night.published.settings.data)
        others = (CALIBRATIONS, EVALUATION, DOCUMENTATION_GAPS)  # may be empty, or not of a night
        filled = [table for table in TABLES.values() if table not in others]
        assert all(store.read(table, KEY).num_rows > 0 for table in filled)
        night.published.server.routes |= site_routes()
        assert night.published.night().success


@needs_a_disk
def test_a_full_disk_between_two_tables_leaves_the_html_behind_the_old_pages(
    published: Published, tmp_path: Path
) -> None:
    with night_on_a_full_disk(published, tmp_path, BETWEEN_TWO_TABLES) as night:
        bodies = Bodies(ParquetStore(night.published.settings.data), KEY)
        digests = night.published.column(RAW_PAGES, "raw_html_hash")
        assert [digest for digest in digests if digest and bodies.get(digest) is None] == []


@needs_a_disk
def test_a_full_disk_is_one_line_that_names_the_file(published: Published, tmp_path: Path) -> None:
    with night_on_a_full_disk(published, tmp_path, BEFORE_THE_FIRST_TABLE) as night:
        assert "\n" not in night.line
        assert "full" in night.line or "No space left" in night.line
        assert night.published.settings.data in night.line
