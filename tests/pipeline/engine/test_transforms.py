import random
from typing import NamedTuple

import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from wikisum.pipeline.engine import transforms
from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.transforms import (
    GroupPacked,
    ReadFiles,
    RowType,
    WriteParts,
    sorted_rows,
)
from wikisum.pipeline.engine.workspace import PartResult, Parts


class Page(NamedTuple):
    url: str
    size: int


def lines(path: str) -> list[str]:
    with open(path) as file:
        return file.read().split()


@pytest.mark.slow
def test_files_are_read(tmp_path):
    for name, text in (("a", "1 2"), ("b", ""), ("c", "3")):
        (tmp_path / name).write_text(text)
    with test_pipeline.TestPipeline() as pipeline:
        found = pipeline | ReadFiles([str(tmp_path / n) for n in "abc"], read=lines)
        assert_that(found, equal_to(["1", "2", "3"]))


@pytest.mark.slow
@pytest.mark.parametrize("held_bytes", [0, 1 << 20])
def test_records_are_grouped_by_key_however_many_travel_together(held_bytes, monkeypatch):
    monkeypatch.setattr(transforms, "HELD_BYTES", held_bytes)
    pages = [Page(f"http://{i}.example/", i) for i in range(50)]

    def unpacked(element):
        key, groups = element
        found = sorted(unpack(data, Page) for data in groups["pages"])
        return key, found, [unpack(data, str) for data in groups["notes"]]

    with test_pipeline.TestPipeline() as pipeline:
        groups = {
            "pages": pipeline | "P" >> beam.Create([(p.size % 3, p) for p in pages]),
            "notes": pipeline | "N" >> beam.Create([(1, "one"), (7, "seven")]),
        } | GroupPacked()
        of = {key: sorted(p for p in pages if p.size % 3 == key) for key in (0, 1, 2)}
        expected = [(0, of[0], []), (1, of[1], ["one"]), (2, of[2], []), (7, [], ["seven"])]
        assert_that(groups | beam.Map(unpacked), equal_to(expected))


def test_rows_of_a_part_are_sorted_whatever_order_they_come_in():
    pages = [Page(f"{i % 5}", i) for i in range(40)]
    packed = [pack(page) for page in pages]
    type_ = RowType(Page, lambda page: page.url)
    first = list(sorted_rows(packed, type_))
    assert [page.url for page in first] == sorted(page.url for page in pages)
    random.Random(0).shuffle(packed)
    assert list(sorted_rows(packed, type_)) == first  # pages of one URL too


class WriteLines:
    def __init__(self, folder) -> None:
        self.folder = str(folder)

    def __call__(self, index, rows):
        urls = [page.url for page in rows["pages"]]
        with open(f"{self.folder}/{index}.txt", "w") as file:
            file.write(" ".join(urls))
        return PartResult(counts={"pages_out": len(urls)})


@pytest.mark.slow
def test_every_part_is_written_and_recorded(tmp_path):
    parts = Parts(str(tmp_path), str(tmp_path / "parts"))
    pages = [(2, Page("c", 1)), (0, Page("b", 1)), (2, Page("a", 1))]
    with test_pipeline.TestPipeline() as pipeline:
        written = {"pages": pipeline | beam.Create(pages)} | WriteParts(
            {"pages": RowType(Page, lambda page: page.url)},
            stage="test",
            indexes=range(4),
            write=WriteLines(tmp_path),
            parts=parts,
        )
        assert_that(written, equal_to([0, 1, 2, 3]))
    assert [(tmp_path / f"{i}.txt").read_text() for i in range(4)] == ["b", "", "a c", ""]
    assert {i: r.counts["pages_out"] for i, r in parts.load(4).items()} == {0: 1, 1: 0, 2: 2, 3: 0}
