import gzip
import random

import pytest
import zstandard

from wikisum.crawl.warc.decoders import (
    DECODING_ERRORS,
    PIECE_BYTES,
    Plain,
    decoder,
    read_dictionary,
    salvage,
)

TEXT = random.Random(1).randbytes(300_000).hex().encode()


def decompressed(data: bytes, max_length: int, step: int) -> tuple[bytes, bytes, int]:
    """(all output, what lies behind the member, the longest piece)."""
    decode = decoder(data, None)
    out, longest, rest = bytearray(), 0, b""
    for start in range(0, len(data), step):
        rest += data[start : start + step]
        while rest and not decode.eof:
            piece = decode.decompress(rest, max_length)
            longest = max(longest, len(piece))
            out += piece
            rest = decode.unused_data if decode.eof else decode.unconsumed_tail
    return bytes(out), rest, longest


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("step", [1000, 1 << 16])
def test_a_member_comes_out_in_pieces_and_what_follows_is_left(compress, step):
    data = compress(TEXT)
    out, rest, _ = decompressed(data + b"what follows", 5000, step)
    assert (out, rest) == (TEXT, b"what follows")


@pytest.mark.parametrize(
    ("compress", "bound"), [(gzip.compress, PIECE_BYTES), (zstandard.compress, 20 << 20)]
)
def test_a_bomb_comes_out_in_bounded_pieces(compress, bound):
    out, _, longest = decompressed(compress(bytes(30 << 20)), PIECE_BYTES, 1 << 16)
    assert len(out) == 30 << 20
    assert longest <= bound


def test_what_is_not_compressed_stays_as_it_is():
    assert isinstance(decoder(b"WARC/1.0", None), Plain)
    assert decoder(b"WARC/1.0", None).decompress(b"abc", 1) == b"abc"


def checked_frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize("compress", [gzip.compress, checked_frame])
def test_what_stands_before_damage_is_salvaged(compress):
    data = bytearray(compress(TEXT))
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    found = salvage(bytes(data), None)
    assert len(found) > 10_000
    assert TEXT.startswith(found[: min(len(found), len(TEXT) // 3)])
    with pytest.raises(DECODING_ERRORS):
        decompressed(bytes(data), PIECE_BYTES, 1 << 16)


def test_a_dictionary_may_be_compressed_itself():
    samples = [b"http://%d.example/" % (i * 7919) * 9 for i in range(500)]
    trained = zstandard.train_dictionary(2000, samples)
    for data in (trained.as_bytes(), zstandard.compress(trained.as_bytes())):
        found = read_dictionary(data)
        assert found.as_bytes() == trained.as_bytes()
    assert read_dictionary(b"") is None
    assert read_dictionary(zstandard.compress(b"x" * 99)[:-3] + b"???") is None
