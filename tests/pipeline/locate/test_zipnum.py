import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from wikisum.crawl.errors import BadAnswer, BadLine
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.reader import IndexReader, IndexSlice
from wikisum.pipeline.locate.zipnum import _block_answers, zipnum_answers
from wikisum.pipeline.records import schema_of, to_table


def line(key: str, **changes: object) -> bytes:
    fields = {"url": f"http://{key}/", "status": "200", "offset": "5", "length": "10",
              "filename": "f", **changes}  # fmt: skip
    return f"{key} 20240101000000 {json.dumps(fields)}\n".encode()


def block(*lines: bytes) -> bytes:
    return gzip.compress(b"".join(lines), mtime=0)


class Folder:
    """The files of a crawl in a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def size(self, path: str) -> int:
        return (self._root / path).stat().st_size

    def read(self, path: str, offset: int, length: int) -> bytes:
        return (self._root / path).read_bytes()[offset : offset + length]


LOOKUPS = [Lookup("b", "u1", "w1"), Lookup("b", "u2", "w2"), Lookup("d", "u3", "w3")]


def test_entries_of_the_wanted_keys_and_no_others():
    data = block(line("a"), line("b"), line("b", offset="6"), line("c"), line("e"))
    first, second = _block_answers(LOOKUPS, data)
    assert (first.lookups, second.lookups) == (LOOKUPS[:2], LOOKUPS[2:])
    assert [entry.offset for entry in first.entries] == [5, 6]
    assert second.entries == first.faults == second.faults == []


def test_a_bad_line_is_a_fault_of_its_key_alone():
    first, second = _block_answers(LOOKUPS, block(line("b", offset="x"), line("d")))
    assert ([f.reason for f in first.faults], first.entries) == (["bad_index"], [])
    assert (second.faults, len(second.entries)) == ([], 1)


@pytest.mark.parametrize("data", [BadAnswer("http_503"), b"no gzip", block(line("b"))[:-12]])
def test_a_block_that_cannot_be_read_is_a_fault_of_every_key(data):
    reasons = [{f.reason for f in answer.faults} for answer in _block_answers(LOOKUPS, data)]
    expected = {data.reason if isinstance(data, BadAnswer) else "bad_index"}
    assert reasons == [expected, expected]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"b 2024\tcdx-0.gz\t90\t9\t1\nd 2024\tcdx-0.gz\t5\t9\t2\n", "cdx-0.gz are not in order"),
        (b"b 2024\tcdx-0.gz\tx\t9\t1\n", "not a line of a cluster.idx"),
    ],
)
def test_a_damaged_cluster_idx_is_named(tmp_path, lines, message):
    indexes = tmp_path / "cc-index/collections/C/indexes"
    indexes.mkdir(parents=True)
    (indexes / "cluster.idx").write_bytes(lines)
    (indexes / "cdx-0.gz").write_bytes(bytes(99))
    pq.write_table(to_table(LOOKUPS, schema_of(Lookup)), tmp_path / "keys.parquet")
    lookups = Lookups((str(tmp_path / "keys.parquet"),), len(LOOKUPS))
    reader = IndexReader(Folder(tmp_path), 1, lookups, "")
    with pytest.raises(BadLine, match=message) as caught:
        list(zipnum_answers(IndexSlice(0, "C", 0, 1), reader))
    assert str(caught.value).startswith("cc-index/collections/C/indexes/cluster.idx: ")
