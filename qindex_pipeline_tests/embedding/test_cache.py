"""The vector cache: what was embedded once is never embedded again, whatever ends the run."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qindex_pipeline.embedding.cache import BATCH, VectorCache
from qindex_pipeline_tests.fakes.hashed_embedding import embed

TEXTS = {f"hash-{number}": f"text number {number}" for number in range(2 * BATCH + 10)}


class Embedding:
    """Embeds by hashing and remembers what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return np.stack([embed(text, 8) for text in texts])

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


def ignore(done: int, total: int) -> None:
    """A report that nobody reads."""


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "state" / "vectors.sqlite")


def test_a_second_call_embeds_nothing_and_gives_the_same_vectors(cache: VectorCache) -> None:
    first, paid = cache.embed("f", TEXTS, Embedding(), ignore)
    again = Embedding()
    second, paid_again = cache.embed("f", TEXTS, again, ignore)
    assert (paid, paid_again, again.batches) == (len(TEXTS), 0, [])
    assert all(np.array_equal(second[key], embed(text, 8)) for key, text in TEXTS.items())
    assert all(np.array_equal(first[key], second[key]) for key in TEXTS)


def test_only_new_texts_are_embedded_in_batches(cache: VectorCache) -> None:
    old = dict(list(TEXTS.items())[:5])
    cache.embed("f", old, Embedding(), ignore)
    embedding = Embedding()
    found, paid = cache.embed("f", TEXTS, embedding, ignore)
    assert embedding.texts == list(TEXTS.values())[5:]
    assert [len(batch) for batch in embedding.batches] == [BATCH, BATCH, 5]
    assert (paid, set(found)) == (len(TEXTS) - 5, set(TEXTS))


def test_another_fingerprint_embeds_anew(cache: VectorCache) -> None:
    cache.embed("f", TEXTS, Embedding(), ignore)
    embedding = Embedding()
    _, paid = cache.embed("g", TEXTS, embedding, ignore)
    assert (paid, embedding.texts) == (len(TEXTS), list(TEXTS.values()))


def test_nothing_to_embed_asks_nobody(cache: VectorCache) -> None:
    embedding = Embedding()
    assert cache.embed("f", {}, embedding, ignore) == ({}, 0)
    assert embedding.batches == []


def test_progress_tells_what_is_embedded_of_what_is_missing(cache: VectorCache) -> None:
    told: list[tuple[int, int]] = []
    cache.embed("f", TEXTS, Embedding(), lambda done, total: told.append((done, total)))
    total = len(TEXTS)
    assert told == [(0, total), (BATCH, total), (2 * BATCH, total), (total, total)]


def test_a_failing_embedder_loses_only_its_own_batch(cache: VectorCache) -> None:
    embedding = Embedding()

    def fail_second(texts: Sequence[str]) -> Any:
        if embedding.batches:
            raise RuntimeError("the provider is down")
        return embedding(texts)

    with pytest.raises(RuntimeError):
        cache.embed("f", TEXTS, fail_second, ignore)
    _, paid = cache.embed("f", TEXTS, Embedding(), ignore)
    assert paid == len(TEXTS) - BATCH


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline_tests.embedding.test_cache import TEXTS, Embedding, ignore

embedding = Embedding()

def killed_in_third_batch(texts):
    if len(embedding.batches) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return embedding(texts)

VectorCache(Path(sys.argv[1])).embed("f", TEXTS, killed_in_third_batch, ignore)
"""


def test_a_killed_run_keeps_the_batches_before(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    command = [sys.executable, "-c", KILLED_RUN, str(file)]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL
    embedding = Embedding()
    found, paid = VectorCache(file).embed("f", TEXTS, embedding, ignore)
    assert embedding.texts == list(TEXTS.values())[2 * BATCH :]
    assert (paid, len(found)) == (10, len(TEXTS))


ONE_SITES_RUN = """
import sys, time
from pathlib import Path
from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline_tests.embedding.test_cache import TEXTS, Embedding, ignore

file, site, start = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
own = {f"{site}-{key}": f"{text} of {site}" for key, text in TEXTS.items()}
print("ready", flush=True)
while not start.exists():
    time.sleep(0.001)
for number in range(5):
    found, paid = VectorCache(file).embed(f"f{number}", own | TEXTS, Embedding(), ignore)
    assert set(found) == set(own) | set(TEXTS)
    print(paid)
"""


def test_the_runs_of_two_sites_write_at_once_and_share_what_they_have(tmp_path: Path) -> None:
    file, start = tmp_path / "vectors.sqlite", tmp_path / "start"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_SITES_RUN, str(file), site, str(start)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        for site in ("a", "b")
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    start.touch()
    paid = [[int(line) for line in run.communicate()[0].split()] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    n = len(TEXTS)
    assert all(n <= each <= 2 * n for counts in paid for each in counts)
    embedding = Embedding()
    for number in range(5):
        assert VectorCache(file).embed(f"f{number}", TEXTS, embedding, ignore)[1] == 0


def test_what_another_run_embeds_meanwhile_is_not_embedded_again(cache: VectorCache) -> None:
    others, ours = Embedding(), Embedding()

    def while_another_runs(texts: Sequence[str]) -> Any:
        if not ours.batches:
            cache.embed("f", TEXTS, others, ignore)
        return ours(texts)

    found, paid = cache.embed("f", TEXTS, while_another_runs, ignore)
    assert (paid, len(ours.texts)) == (BATCH, BATCH)
    assert set(found) == set(TEXTS)


def test_what_is_missing_is_told_without_writing_even_while_another_process_embeds(
    cache: VectorCache, tmp_path: Path
) -> None:
    keys = list(TEXTS)[:4]
    assert cache.missing("f", keys) == keys
    assert list(tmp_path.iterdir()) == []
    cache.embed("f", {key: TEXTS[key] for key in keys[1:3]}, Embedding(), ignore)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert cache.missing("f", keys) == [keys[0], keys[3]]
    assert cache.missing("g", keys) == keys
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    seen: list[list[str]] = []

    def meanwhile(done: int, total: int) -> None:
        seen.append(cache.missing("f", keys))

    cache.embed("f", {key: TEXTS[key] for key in keys}, Embedding(), meanwhile)
    assert seen == [[keys[0], keys[3]], []]
