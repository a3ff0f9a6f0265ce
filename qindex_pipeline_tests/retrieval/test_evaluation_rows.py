"""Files of questions with known pages."""

import json
from pathlib import Path

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.retrieval.evaluation.rows import (
    not_indexed,
    read_rows,
    read_unanswerable,
)

ROW = {"id": "1", "question": "How?", "page": "a.html"}


def written(folder: Path, *rows: object) -> Path:
    file = folder / "questions.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_rows_are_read_in_order_and_further_keys_do_not_matter(tmp_path: Path):
    second = ROW | {"id": "2", "also": ["b/", "c.html"], "anchor": "x", "source": "somewhere"}
    found = read_rows(written(tmp_path, ROW, "", second))
    assert [row.id for row in found] == ["1", "2"]
    assert found[0].right == {"/a.html"}
    assert found[1].right == {"/a.html", "/b", "/c.html"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "line 2"),
        ("[]", "line 2"),
        ({"id": "2", "question": "How?"}, "page"),
        ({"id": "2", "page": "a"}, "question"),
        ({"id": "2", "question": "", "page": "a"}, "question"),
        ({"id": 2, "question": "How?", "page": "a"}, "id"),
        ({"id": "2", "question": "How?", "page": "a", "also": "b"}, "also"),
        (ROW, "twice"),
    ],
)
def test_a_malformed_line_is_named_with_its_file(tmp_path: Path, line: object, said: str):
    file = written(tmp_path, ROW, line)
    with pytest.raises(UsageError, match=r"questions\.jsonl, line 2") as raised:
        read_rows(file)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_without_questions_or_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="holds no question"):
        read_rows(written(tmp_path, ""))
    with pytest.raises(UsageError, match=r"nowhere\.jsonl cannot be read"):
        read_rows(tmp_path / "nowhere.jsonl")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        read_rows(binary)


def test_unanswerable_rows_need_no_page_and_have_a_kind(tmp_path: Path):
    file = written(tmp_path, {"id": "1", "question": "How?", "kind": "near"}, ROW | {"id": "2"})
    assert [row.kind for row in read_unanswerable(file)] == ["near", "unanswerable"]


def test_labels_that_no_indexed_page_has_are_listed_as_written(tmp_path: Path):
    rows = read_rows(written(tmp_path, ROW | {"also": ["gone/", "https://x.dev/b", "b"]}))
    urls = ["https://docs.example.com/a.html", "https://docs.example.com/b"]
    assert not_indexed(rows, urls) == ["gone/", "https://x.dev/b"]
