import contextlib
import gzip
import multiprocessing
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.fake_crawl import TABLE
from wikisum.crawl.errors import BadAnswer, BadRecord
from wikisum.pipeline.locate.columnar import table_answers, table_paths
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.reader import IndexReader, IndexSlice
from wikisum.pipeline.records import schema_of, to_table

LIST = "crawl-data/CC-1/cc-index-table.paths.gz"
ROW = {
    "url_surtkey": "a", "url": "http://a/", "url_host_name": "a",
    "fetch_time": datetime(2024, 1, 2, 3, 4, 5), "fetch_status": 200, "fetch_redirect": None,
    "content_digest": "D", "content_mime_type": "text/html", "content_mime_detected": None,
    "content_truncated": None, "warc_filename": "f.warc.gz", "warc_record_offset": 5,
    "warc_record_length": 10,
}  # fmt: skip


class Folder:
    """A crawl's files in a folder; remembers what was read."""

    def __init__(self, root: Path) -> None:
        self.root, self.read_bytes = root, 0

    def get(self, path: str, max_bytes: int) -> bytes:
        data = (self.root / path).read_bytes()
        assert len(data) <= max_bytes
        return data

    def size(self, path: str) -> int:
        return (self.root / path).stat().st_size

    def read(self, path: str, offset: int, length: int) -> bytes:
        self.read_bytes += length
        data = (self.root / path).read_bytes()[offset : offset + length]
        assert len(data) == length
        return data


@pytest.fixture
def folder(tmp_path) -> Folder:
    (tmp_path / LIST).parent.mkdir(parents=True)
    return Folder(tmp_path)


def write(folder: Folder, *tables: pa.Table, **options: object) -> None:
    """Write the files of a table, and the list that names them beside those of another subset."""
    names = [f"table/subset=warc/part-{number}.parquet" for number in range(len(tables))]
    for name, table in zip(names, tables, strict=True):
        (folder.root / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder.root / name, **{"row_group_size": 2, **options})
    lines = [*names, "table/subset=robotstxt/part-9.parquet"]
    (folder.root / LIST).write_bytes(gzip.compress("\n".join(lines).encode()))


def rows(*keys: str, **changes: object) -> pa.Table:
    found = [{**ROW, "url_surtkey": key, "url": f"http://{key}/", **changes} for key in keys]
    return pa.Table.from_pylist(found, TABLE)


def answers(folder: Folder, *keys: str, part: int = 0, part_count: int = 1) -> list:
    path = folder.root / "keys.parquet"
    lookups = [Lookup(key, f"http://{key}/", "w") for key in sorted(keys)]
    pq.write_table(to_table(lookups, schema_of(Lookup)), path)
    reader = IndexReader(folder, 1, Lookups((str(path),), len(lookups)), "")
    return list(table_answers(IndexSlice(0, "CC-1", part, part_count), reader))


def test_the_list_names_the_files_of_pages_alone(folder):
    write(folder, rows("a"), rows("b"))
    names = [f"table/subset=warc/part-{n}.parquet" for n in (0, 1)]
    assert table_paths(folder, "CC-1") == names


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"x")[:-9], gzip.compress(b"\xff")])
def test_a_list_that_cannot_be_read(folder, data):
    (folder.root / LIST).write_bytes(data)
    with pytest.raises(BadAnswer, match="is not a list of files") as caught:
        table_paths(folder, "CC-1")
    assert caught.value.reason == "bad_index"


@pytest.mark.parametrize("statistics", [True, False])
def test_captures_of_the_wanted_keys_and_no_others(folder, statistics):
    write(folder, rows("a", "b", "b", "c", "e", "e"), write_statistics=statistics)
    found = answers(folder, "b", "e", "d")  # "b" stands in two row groups
    assert [[lookup.surt for lookup in answer.lookups] for answer in found] == [["b"], ["b"], ["e"]]
    urls = [[entry.url for entry in answer.entries] for answer in found]
    assert urls == [["http://b/"], ["http://b/"], ["http://e/", "http://e/"]]
    assert all(answer.faults == [] for answer in found)


def test_an_entry_has_the_columns_of_its_row(folder):
    write(folder, rows("a", fetch_redirect="http://b/"))
    ((_, (entry,), _),) = answers(folder, "a")
    assert entry.timestamp == "20240102030405"
    assert (entry.url, entry.status, entry.digest) == ("http://a/", 200, "D")
    assert (entry.filename, entry.offset, entry.length) == ("f.warc.gz", 5, 10)
    assert (entry.mime, entry.mime_detected, entry.redirect) == ("text/html", "", "http://b/")
    assert entry.truncated == ""


def test_old_tables_lack_columns(folder):
    table = rows("a").drop_columns(["content_mime_type", "content_truncated", "fetch_redirect"])
    write(folder, table)
    ((_, (entry,), _),) = answers(folder, "a")
    assert (entry.mime, entry.truncated, entry.redirect) == ("", "", "")


def test_a_row_that_is_no_capture_is_a_fault_of_its_key(folder):
    write(folder, pa.concat_tables([rows("a", warc_record_length=0), rows("b")]))
    bad, good = answers(folder, "a", "b")
    assert (bad.entries, [fault.reason for fault in bad.faults]) == ([], ["bad_index"])
    assert (len(good.entries), good.faults) == (1, [])


@pytest.mark.parametrize("moment", [7, True, [1]])
def test_a_time_of_the_wrong_type_is_a_fault_of_its_key(folder, moment):
    write(folder, pa.Table.from_pylist([{**ROW, "fetch_time": moment}]))
    ((_, entries, faults),) = answers(folder, "a")
    assert (entries, [fault.reason for fault in faults]) == ([], ["bad_index"])


@pytest.mark.parametrize("damage", ["keys are bytes", "keys are numbers", "no keys", "footer"])
def test_a_damaged_table_is_named(folder, damage):
    key = {"keys are bytes": b"a", "keys are numbers": 5}.get(damage, "a")
    table = pa.Table.from_pylist([{**ROW, "url_surtkey": key}])
    write(folder, table.drop_columns(["url_surtkey"]) if damage == "no keys" else table)
    path = folder.root / "table/subset=warc/part-0.parquet"
    if damage == "footer":
        data = path.read_bytes()
        path.write_bytes(data[:-40] + b"\xff" * 32 + data[-8:])
    with pytest.raises(BadRecord, match=r"part-0\.parquet is not a table of pages") as caught:
        answers(folder, "a")
    assert caught.value.reason == "bad_index"


def read_with_damaged_footers(root: Path) -> None:
    """Flip a bit of each byte of the footer in turn, and read the table."""
    folder, path = Folder(root), root / "table/subset=warc/part-0.parquet"
    data = path.read_bytes()
    for position in range(len(data) - int.from_bytes(data[-8:-4], "little") - 8, len(data) - 8):
        damaged = bytearray(data)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with contextlib.suppress(BadRecord):
            answers(folder, "a")


@pytest.mark.slow
def test_no_damaged_footer_ends_the_process(folder):
    write(folder, rows("a").select([*ROW][:2]), compression="none", store_schema=False)
    process = multiprocessing.get_context("spawn").Process(
        target=read_with_damaged_footers, args=(folder.root,)
    )
    process.start()
    process.join(60)
    assert process.exitcode == 0


def test_a_status_that_is_absent_is_zero(folder):
    write(folder, rows("a", fetch_status=None))
    ((_, entries, faults),) = answers(folder, "a")
    assert [entry.status for entry in entries] == [0]
    assert faults == []


def test_parts_take_files_in_turn(folder):
    write(folder, rows("a"), rows("b"), rows("c"))
    found = [
        [answer.lookups[0].surt for answer in answers(folder, "a", "b", "c", part=p, part_count=2)]
        for p in (0, 1)
    ]
    assert found == [["a", "c"], ["b"]]


def test_columns_of_row_groups_without_a_wanted_key_are_not_read(folder):
    noise = [f"a{number:05}" for number in range(4_000)]
    table = rows(*noise)
    write(folder, table, row_group_size=100)
    assert len(answers(folder, "a02000")) == 1
    one, folder.read_bytes = folder.read_bytes, 0
    assert len(answers(folder, *noise[::100])) == 40
    footer = 1 << 16  # is read with the end of the file
    assert (folder.read_bytes - footer) > 10 * (one - footer)


@pytest.mark.parametrize("kind", ["no Parquet", "no key"])
def test_a_file_that_is_no_table_of_pages(folder, kind):
    write(folder, rows("a").drop_columns(["url_surtkey"]))
    if kind == "no Parquet":
        (folder.root / "table/subset=warc/part-0.parquet").write_bytes(b"x" * 100)
    with pytest.raises((BadRecord, ValueError), match=r"part-0\.parquet|url_surtkey"):
        answers(folder, "a")
