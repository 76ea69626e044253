import bz2
import gzip
import io
import random

import pytest
import zstandard

from wikisum.crawl.wikipedia.compressed import (
    BLOCK_BYTES,
    DecompressedFile,
    StreamReader,
    compression_of,
)

PACKS = {"bz2": bz2.compress, "gzip": gzip.compress, "zstd": zstandard.compress}
TEXT = random.Random(2).randbytes(400_000).hex().encode()


@pytest.mark.parametrize("kind", PACKS)
def test_one_stream_with_its_size_and_what_follows(kind):
    data = PACKS[kind](TEXT)
    stream = StreamReader(io.BytesIO(data + b"what follows"), kind)
    blocks = list(stream.blocks())
    assert b"".join(blocks) == TEXT
    assert max(map(len, blocks)) <= BLOCK_BYTES
    assert (stream.size, stream.rest, stream.fault) == (len(data), b"what follows", None)


@pytest.mark.parametrize("kind", PACKS)
def test_a_chain_of_streams_is_one_file(kind):
    data = PACKS[kind](TEXT) + PACKS[kind](b"") + PACKS[kind](b"more")
    assert compression_of(data) == kind
    file = DecompressedFile(io.BytesIO(data[10:]), data[:10], kind)
    assert file.read() == TEXT + b"more"
    assert file.fault is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKS)
@pytest.mark.parametrize("cut", [-1, -20, 1000])
def test_a_cut_is_a_fault_after_all_that_stands_before(kind, cut):
    file = DecompressedFile(io.BytesIO(PACKS[kind](TEXT)[:cut]), b"", kind)
    found = file.read()
    assert TEXT.startswith(found)
    assert "ends early" in file.fault


@pytest.mark.parametrize("kind", PACKS)
def test_damage_is_a_fault(kind):
    checked = zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)
    data = bytearray(checked if kind == "zstd" else PACKS[kind](TEXT))
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    file = DecompressedFile(io.BytesIO(bytes(data)), b"", kind)
    file.read()
    assert "is damaged" in file.fault


def test_plain_files_have_no_compression():
    assert compression_of(b"<mediawiki>") is None
