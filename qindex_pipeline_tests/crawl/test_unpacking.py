import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.fetch.unpacking import Unpacker, UnpackingError

BARE = -zlib.MAX_WBITS
PACKED = {
    "": lambda body: body,
    "identity": lambda body: body,
    "utf-8": lambda body: body,
    "gzip": gzip.compress,
    "X-GZIP ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda body: zlib.compress(body, wbits=BARE),
}


@given(
    st.binary(max_size=2000), st.sampled_from(sorted(PACKED)), st.integers(1, 50), st.integers(1, 3)
)
def test_a_body_survives_its_encoding_in_parts_of_any_length(
    body: bytes, encoding: str, length: int, repeats: int
) -> None:
    body *= repeats
    packed = PACKED[encoding](body)
    unpacker = Unpacker(encoding)
    parts = (packed[start : start + length] for start in range(0, len(packed), length))
    assert b"".join(unpacker.feed(part, 10_000) for part in parts) == body
    unpacker.finish()


@given(st.sampled_from(["gzip", "deflate"]), st.integers(1, 5000))
def test_no_more_is_unpacked_than_is_wanted(encoding: str, most: int) -> None:
    packed = PACKED[encoding](b"x" * 100_000)
    assert Unpacker(encoding).feed(packed, most) == b"x" * most


@given(st.binary(min_size=1, max_size=300), st.integers(1, 200))
def test_a_stream_that_was_cut_is_noticed(body: bytes, cut: int) -> None:
    packed = gzip.compress(body)
    unpacker = Unpacker("gzip")
    unpacker.feed(packed[: -min(cut, len(packed) - 1)], 10_000)
    with pytest.raises(UnpackingError, match="ends too early"):
        unpacker.finish()


@given(st.binary(min_size=1, max_size=300), st.sampled_from(["gzip", "deflate"]))
def test_garbage_is_an_unpacking_error_or_a_body(garbage: bytes, encoding: str) -> None:
    unpacker = Unpacker(encoding)
    try:
        unpacker.feed(garbage, 10_000)
        unpacker.finish()
    except UnpackingError as error:
        assert encoding in str(error)


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(UnpackingError, match="was not asked for"):
        Unpacker(encoding)


def test_an_empty_body_has_no_stream_to_end() -> None:
    unpacker = Unpacker("gzip")
    assert unpacker.feed(b"", 10) == b""
    unpacker.finish()
