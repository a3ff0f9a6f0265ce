"""The commands rebuild and rollback: what they bring back, what they say, their exit codes."""

import json
import queue
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.locks import site_lock
from qindex_pipeline.rebuild import rebuild, rollback, table_points
from qindex_pipeline.removal import purge_site
from qindex_pipeline.retrieval.opening import open_collection
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS, to_rows
from qindex_pipeline_tests.command import qindex, write_site
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

PAGES = {
    "lantern": "<h1>Lantern</h1><p>The lantern is lit with the small brass key.</p>",
    "anchor": "<h1>Anchor</h1><p>The anchor weighs about forty kilograms.</p>",
}


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which two sites were ingested with the offline profile."""
    folder = tmp_path_factory.mktemp("ingested")
    for key, body in PAGES.items():
        write_site(folder / key, index=body)
        done = qindex(folder, "ingest", key, "--site", key, QINDEX_PROFILE="offline")
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(ingested: Path, tmp_path: Path) -> Path:
    """A copy of it; the index is left out, for that is what is rebuilt."""
    ignore = shutil.ignore_patterns("index", "locks")
    return Path(shutil.copytree(ingested, tmp_path / "work", ignore=ignore))


def settings_of(settings: MakeSettings, folder: Path, **variables: object) -> Settings:
    given = {"QINDEX_DATA": folder / "data", "QINDEX_SITES": folder / "sites.yaml"}
    return settings(**given, **variables)


def sites_of(settings: Settings) -> dict[str, int]:
    collection, _ = open_collection(settings)
    sites = collection.sites()
    collection.close()
    return sites


def test_a_deleted_index_is_rebuilt_with_one_line_a_site(folder: Path) -> None:
    assert qindex(folder, "ask", "How heavy is the anchor?").returncode == 1
    done = qindex(folder, "rebuild")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(PAGES)
    assert all(" points written, 0 unchanged, 0 deleted, " in line for line in lines)
    asked = qindex(folder, "ask", "How heavy is the anchor?", "--json", "--no-answer")
    assert json.loads(asked.stdout)["results"][0]["site"] == "anchor"


def test_a_rebuild_asks_no_model_and_embeds_nothing(
    folder: Path, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(*_: Any) -> None:
        raise AssertionError("a rebuild embeds")

    monkeypatch.setattr(MiniLMEmbedder, "embed", embed)
    made = settings_of(settings, folder)
    for done in rebuild(made, None, pytest.fail):
        assert done.report.live
    rows = {key: len(table_points(ParquetStore(made.data), key)) for key in PAGES}
    assert sites_of(made) == rows
    assert [done.report.written for done in rebuild(made, None, pytest.fail)] == [0, 0]


def test_a_server_that_lost_its_collection_gets_it_back(
    folder: Path, settings: MakeSettings
) -> None:
    for _ in range(2):
        with QdrantServer() as server:
            made = settings_of(settings, folder, QDRANT_URL=server.url)
            assert [done.site for done in rebuild(made, None, pytest.fail)] == list(PAGES)
            assert sites_of(made).keys() == PAGES.keys()


def test_one_site_is_rebuilt_alone(folder: Path, settings: MakeSettings) -> None:
    made = settings_of(settings, folder)
    assert [done.site for done in rebuild(made, "anchor", pytest.fail)] == ["anchor"]
    assert sites_of(made).keys() == {"anchor"}


def test_the_profile_that_built_the_tables_is_found_when_auto_picks_another_now(
    folder: Path, settings: MakeSettings
) -> None:
    made = settings_of(settings, folder, OPENAI_API_KEY="key", ANTHROPIC_API_KEY="key")
    (done,) = rebuild(made, "anchor", pytest.fail)
    assert done.report.collection.startswith("qindex_offline_v1__")


def test_tables_of_another_embedder_are_refused(folder: Path, settings: MakeSettings) -> None:
    made = settings_of(settings, folder, QINDEX_PROFILE="api", OPENAI_API_KEY="key")
    with pytest.raises(WorkError, match="'anchor' was embedded with minilm, the settings name"):
        list(rebuild(made, "anchor", pytest.fail))


def test_vectors_of_an_earlier_release_are_refused(folder: Path, settings: MakeSettings) -> None:
    made = settings_of(settings, folder)
    store = ParquetStore(made.data)
    rows = to_rows(EMBEDDINGS, store.read(EMBEDDINGS, "anchor"))
    store.write(EMBEDDINGS, "anchor", [row | {"fingerprint": "0" * 8} for row in rows])
    with pytest.raises(WorkError, match=r"site 'anchor' have fingerprint 00000000, .*`qindex ing"):
        list(rebuild(made, "anchor", pytest.fail))


def test_an_unknown_site_is_a_wrong_call_and_no_tables_are_failed_work(
    folder: Path, tmp_path: Path, settings: MakeSettings
) -> None:
    made = settings_of(settings, folder)
    with pytest.raises(UsageError, match="has no site 'none'"):
        list(rebuild(made, "none", pytest.fail))
    with pytest.raises(WorkError, match=r"no site of .* has tables .*run `qindex ingest`"):
        list(rebuild(settings(QINDEX_SITES=tmp_path / "none.yaml"), None, pytest.fail))


def test_a_rollback_is_told_and_taken_back_and_needs_something_kept(folder: Path) -> None:
    nothing = qindex(folder, "rollback")
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("qindex: nothing was kept behind qindex_offline_v1")
    assert qindex(folder, "rebuild").returncode == 0
    done = qindex(folder, "rollback")
    assert done.returncode == 0
    assert "/gen-1 now; before: " in done.stdout
    again = qindex(folder, "rollback")
    assert "/gen-2 now; before: " in again.stdout


def test_a_rollback_gives_the_sites_that_were_there(folder: Path, settings: MakeSettings) -> None:
    made = settings_of(settings, folder)
    list(rebuild(made, None, pytest.fail))
    rollback(made, pytest.fail)
    assert sites_of(made).keys() == {"lantern"}


@pytest.mark.parametrize("work", ["rebuild", "rollback"])
def test_work_on_the_index_waits_for_a_run_of_the_site(
    work: str, folder: Path, settings: MakeSettings
) -> None:
    made = settings_of(settings, folder)
    list(rebuild(made, None, pytest.fail))
    said: queue.Queue[str] = queue.Queue()
    jobs = {
        "rebuild": lambda: list(rebuild(made, "anchor", said.put)),
        "rollback": lambda: rollback(made, said.put),
    }
    with ThreadPoolExecutor() as pool:
        with site_lock(made.state_dir, "anchor", pytest.fail):
            waiting = pool.submit(jobs[work])
            assert "anchor is being processed by another run" in said.get(timeout=30)
            assert sites_of(made).keys() == PAGES.keys()
            assert not waiting.done()
        waiting.result(timeout=30)


def test_a_purged_site_is_gone_whatever_profile_is_picked_now(
    folder: Path, settings: MakeSettings
) -> None:
    list(rebuild(settings_of(settings, folder), None, pytest.fail))
    made = settings_of(settings, folder, OPENAI_API_KEY="key", ANTHROPIC_API_KEY="key")
    assert purge_site(made, "anchor", pytest.fail) > 0
    assert sites_of(made).keys() == {"lantern"}
    with pytest.raises(WorkError, match="nothing was kept"):
        open_engine(made).rollback("qindex_offline_v1")
