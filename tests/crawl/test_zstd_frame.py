import zstandard
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.zstd_frame import ZstdFrame


@given(st.binary(max_size=5000), st.integers(1, 3000))
def test_a_frame_comes_back_in_pieces_and_what_follows_is_left(data, max_length):
    frame, left, out = ZstdFrame(), zstandard.compress(data) + b"next", b""
    while not frame.eof:
        out += frame.decompress(left, max_length)
        left = frame.unconsumed_tail
    assert out == data
    assert frame.unused_data == b"next"


def test_a_small_frame_of_many_bytes_is_not_decompressed_at_once():
    bomb = zstandard.compress(bytes(200 << 20))
    frame = ZstdFrame()
    first = frame.decompress(bomb, 1)
    assert 0 < len(first) <= 8 << 20
    assert frame.unconsumed_tail
