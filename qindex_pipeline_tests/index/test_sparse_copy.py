"""A copy has the bytes of its source and takes no more room on disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.index.sparse_copy import copy_sparse

HOLE = 1 << 16


@given(pieces=st.lists(st.tuples(st.binary(max_size=200), st.integers(0, 4)), max_size=5))
def test_a_copy_is_equal_to_its_source(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[bytes, int]]
):
    folder = tmp_path_factory.mktemp("sparse")
    source, target = folder / "source", folder / "target"
    with source.open("wb") as file:
        for data, holes in pieces:
            file.write(data)
            file.seek(holes * HOLE, os.SEEK_CUR)
        file.truncate(file.tell())
    copy_sparse(str(source), str(target))
    assert target.read_bytes() == source.read_bytes()


def test_holes_stay_holes(tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.write(b"begin")
        file.truncate(50 << 20)
    if source.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("this file system has no sparse files")
    copy_sparse(str(source), str(target))
    assert target.stat().st_size == 50 << 20
    assert target.stat().st_blocks * 512 < 1 << 20
