"""Numbers and the picture of the sizes of chunks."""

from dataclasses import replace

from qindex_pipeline.chunking import ChunkConfig
from qindex_pipeline.chunking.sizes import SizeCounts, size_counts, size_histogram
from qindex_pipeline_tests.chunking.pages import chunks_of


def test_the_histogram_shows_how_many_chunks_have_how_many_words() -> None:
    assert size_histogram([11, 12, *[100] * 100, 600]).split("\n") == [
        "```text",
        "   words  chunks",
        "    0-11       1   1% ▍",
        "   12-24       1   1% ▍",
        "   25-49       0   0%",
        "   50-74       0   0%",
        "   75-99       0   0%",
        f" 100-124     100  97% {'█' * 40}",
        " 125-149       0   0%",
        " 150-199       0   0%",
        " 200-249       0   0%",
        " 250-299       0   0%",
        " 300-374       0   0%",
        " 375-499       0   0%",
        "    500+       1   1% ▍",
        "```",
    ]


def test_the_histogram_begins_and_ends_where_there_are_chunks() -> None:
    assert [line.split()[0] for line in size_histogram([30, 60]).split("\n")[2:-1]] == [
        "25-49",
        "50-74",
    ]
    assert size_histogram([]) == ""


def test_special_chunks_are_counted() -> None:
    config = ChunkConfig(full_page_words=0, max_words=12, min_words=0)
    chunks = chunks_of("One.\n\n```\n" + "a b c d e\n" * 20 + "```\n", config)
    assert size_counts(chunks, config) == SizeCounts(parts=3, plain=0, oversized=0, repeated=0)
    changed = [
        replace(chunks[0], n_words=77),
        replace(chunks[0], n_words=76, kind="plain"),
        replace(chunks[0], n_words=77, kind="full_page", duplicate_of="x"),
    ]
    assert size_counts(changed, config) == SizeCounts(parts=0, plain=1, oversized=1, repeated=1)
