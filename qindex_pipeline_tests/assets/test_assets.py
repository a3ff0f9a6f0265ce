"""The assets through Dagster: what they write, what blocks, what a missing upstream says."""

from pathlib import Path

import pytest

from qindex_pipeline.assets import chunks as chunks_asset
from qindex_pipeline.assets import embeddings
from qindex_pipeline.checks import index as checks
from qindex_pipeline.chunking.model import Chunk
from qindex_pipeline.chunking.stage import chunk_pages
from qindex_pipeline.embedding.stage import Embedded, embed_site
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CANDIDATE_QUESTIONS,
    CHUNKS,
    DOCUMENTATION_GAPS,
    EMBEDDINGS,
    EVALUATION,
    RAW_PAGES,
    TABLES,
)
from qindex_pipeline_tests.chain import failure, materialize, metadata
from qindex_pipeline_tests.command import CLOSED, write_site
from qindex_pipeline_tests.crawl.hostile import Reply, page, serving

KEY = "docs.lantern.dev"
LAMP = """<h1>Installing Lantern</h1><p>To install Lantern on a computer, run this command:</p>
  <pre><code class="language-bash">pip install lantern-cli</code></pre>"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(profile="offline", data=str(tmp_path / "data"), sites=tmp_path / "sites.yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site", index=LAMP)


def test_the_chain_writes_every_table_under_a_key_with_dots(settings: Settings, folder: Path):
    result = materialize(settings, Site(key=KEY, folder=folder))
    assert result.success
    store = ParquetStore(settings.data)
    weekly = {DOCUMENTATION_GAPS.name}  # not a part of the chain
    for table in (TABLES[name] for name in set(TABLES) - weekly):
        assert store.path(table, KEY).endswith(f"{table.name}/{KEY}.parquet")
        # Two sentences give too few questions to calibrate with; the site names no question file.
        may_be_empty = table in (CALIBRATIONS, EVALUATION)
        assert store.read(table, KEY).num_rows >= (not may_be_empty)
    seen = metadata(result)
    beside = {"page_bodies", "calibrations", "published_pages"}
    assert set(seen) == {*TABLES, "question_index"} - beside - weekly
    for name in set(seen) - {"question_index", "change_report"}:
        table = TABLES[name]
        assert seen[name]["dagster/row_count"] == store.read(table, KEY).num_rows
        columns = seen[name]["dagster/column_schema"].columns
        assert [column.name for column in columns] == table.schema.names
    numbers = seen["question_index"]
    assert numbers["points"] == store.read(EMBEDDINGS, KEY).num_rows
    assert all(check.passed for check in result.get_asset_check_evaluations())
    assert {check.check_name for check in result.get_asset_check_evaluations()} == {
        "pages_fetched", "crawl_is_not_suspect", "chunks_are_whole",
        "every_chunk_has_a_vector", "collection_matches_table", "confidence_bands_are_apart",
        "evaluated_pages_are_indexed", "evaluation_has_not_fallen",
        "chunks_have_questions", "rejection_is_steady",
        "human_questions_stand",
    }  # fmt: skip


def test_a_crawl_without_pages_writes_nothing_and_says_why(settings: Settings, folder: Path):
    assert materialize(settings, Site(key=KEY, folder=folder)).success
    store = ParquetStore(settings.data)
    before = Path(store.path(RAW_PAGES, KEY)).read_bytes()
    result = materialize(settings, Site(key=KEY, start_url=CLOSED + "/"))
    assert not result.success
    (check,) = result.get_asset_check_evaluations()
    assert check.check_name == "pages_fetched"
    assert not check.passed
    assert "refuses the connection" in (check.description or "")
    assert Path(store.path(RAW_PAGES, KEY)).read_bytes() == before


def test_a_page_that_fails_tonight_keeps_its_chunks_and_its_points(settings: Settings):
    routes = {"/": page("start", "/lamp"), "/lamp": page("lamp")}
    with serving(routes) as server:
        site = Site(key=KEY, start_url=server.base + "/")
        first = metadata(materialize(settings, site))
        server.routes["/lamp"] = Reply(b"", 503)
        second = metadata(materialize(settings, site))
    assert second["raw_pages"]["outcome/http_5xx"] == 1
    assert second["raw_pages"]["pages_with_content"] == 2
    assert second["chunks"]["chunks"] == first["chunks"]["chunks"] == 2
    assert second["question_index"]["points_unchanged"] == first["question_index"]["points"]
    assert second["question_index"]["points_deleted"] == 0


def test_what_repeats_across_pages_is_asked_about_and_indexed_once(
    settings: Settings, tmp_path: Path
):
    note = "<h2>Privacy</h2><p>We keep the question for thirty days and then delete it.</p>"
    pages = {name: f"<h1>{name}</h1><p>{name} {'text ' * 500}</p>{note}" for name in ("ab", "cd")}
    links = "".join(f'<a href="{name}.html">{name}</a>' for name in pages)
    folder = write_site(tmp_path / "site", index=f"<h1>Start</h1><p>{links} lead on.</p>", **pages)
    assert materialize(settings, Site(key=KEY, folder=folder)).success
    store = ParquetStore(settings.data)
    chunks = store.read(CHUNKS, KEY).to_pylist()
    notes = [chunk for chunk in chunks if "thirty days" in chunk["text"]]
    assert [chunk["duplicate_reason"] for chunk in notes] == [None, "same text on 2 pages"]
    assert notes[1]["duplicate_of"] == notes[0]["chunk_id"]
    for table in (CANDIDATE_QUESTIONS, EMBEDDINGS):
        named = set(store.read(table, KEY)["chunk_id"].to_pylist())
        assert notes[0]["chunk_id"] in named
        assert notes[1]["chunk_id"] not in named


def test_chunks_that_lose_text_are_not_written(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def lossy(*arguments: object) -> list[Chunk]:
        return chunk_pages(*arguments)[1:]

    monkeypatch.setattr(chunks_asset, "chunk_pages", lossy)
    result = materialize(settings, Site(key=KEY, folder=folder))
    assert not result.success
    failed = [check for check in result.get_asset_check_evaluations() if not check.passed]
    assert [check.check_name for check in failed] == ["chunks_are_whole"]
    assert "is in no chunk" in (failed[0].description or "")
    assert not ParquetStore(settings.data).exists(CHUNKS, KEY)


def test_a_missing_upstream_names_asset_site_and_path(settings: Settings, folder: Path):
    result = materialize(settings, Site(key=KEY, folder=folder), "chunks")
    said = failure(result)
    assert not result.success
    assert "raw_pages" in said
    assert KEY in said
    assert ParquetStore(settings.data).path(RAW_PAGES, KEY) in said


def test_an_unreached_chunk_blocks_the_embeddings(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    assert materialize(settings, Site(key=KEY, folder=folder)).success
    store = ParquetStore(settings.data)
    before = Path(store.path(EMBEDDINGS, KEY)).read_bytes()
    lost = store.read(CHUNKS, KEY)["chunk_id"][0].as_py()

    def lossy(*arguments: object) -> Embedded:
        made = embed_site(*arguments)
        return Embedded([row for row in made.rows if row["chunk_id"] != lost], made.texts_embedded)

    monkeypatch.setattr(embeddings, "embed_site", lossy)
    result = materialize(settings, Site(key=KEY, folder=folder), "embeddings")
    assert not result.success
    (check,) = result.get_asset_check_evaluations()
    assert "1 chunks have no vector" in (check.description or "")
    assert lost in (check.description or "")
    assert Path(store.path(EMBEDDINGS, KEY)).read_bytes() == before


@pytest.mark.parametrize(("points", "rows", "passed"), [(3, 3, True), (2, 3, False)])
def test_the_collection_is_held_against_the_table(points: int, rows: int, passed: bool):
    result = checks.collection_matches_table(points, rows)
    assert result.passed is passed
    assert (result.description is None) is passed


def test_a_run_that_auto_would_switch_stops_before_the_crawl(
    settings: Settings, folder: Path, tmp_path: Path
):
    assert materialize(settings, Site(key=KEY, folder=folder)).success
    switched = Settings(
        data=settings.data,
        sites=settings.sites,
        OPENAI_API_KEY="key",
        ANTHROPIC_API_KEY="key",
    )
    result = materialize(switched, Site(key=KEY, folder=folder))
    assert not result.success
    assert "was built with minilm" in failure(result)
    assert metadata(result) == {}
