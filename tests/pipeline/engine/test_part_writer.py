from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from tests.builders import stage_writer
from wikisum.pipeline.engine.shards import ShardFile, read_arrays, read_rows
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.records import Dropped


class Page(NamedTuple):
    url: str


class Link(NamedTuple):
    target: str


class Table(NamedTuple):
    numbers: np.ndarray


STAGE = Stage(
    name="toy",
    unit="pages",
    outputs=(
        Output("pages/pages-toy-", Page, count="pages_out"),
        Output(".work/links/", Link),
        Output(".work/tables/table-", Table, suffix=".arrays"),
    ),
    reasons={"too_old": "The page is older than the limit."},
)


def rows(tmp_path, path: str) -> list[dict]:
    return list(read_rows(str(tmp_path / path)))


def test_records_go_to_the_shard_of_their_type_and_are_counted(tmp_path):
    with stage_writer(tmp_path, STAGE, 8).part(3) as part:
        part.write(Page("a"))
        part.write(Page("b"))
        part.write(Link("c"))
        part.counts["seen"] += 5
        part.costs["requests"] += 2
    result = part.result(language="en")
    assert rows(tmp_path, "pages/pages-toy-00003-of-00008.parquet") == [{"url": "a"}, {"url": "b"}]
    assert rows(tmp_path, ".work/links/00003-of-00008.parquet") == [{"target": "c"}]
    assert rows(tmp_path, "dropped/dropped-toy-00003-of-00008.parquet") == []
    assert [(f.path, f.rows) for f in result.files] == [
        ("pages/pages-toy-00003-of-00008.parquet", 2),
        (".work/links/00003-of-00008.parquet", 1),
        ("dropped/dropped-toy-00003-of-00008.parquet", 0),
    ]
    assert result.counts == {"pages_out": 2, "seen": 5}
    assert (result.costs, result.extra) == ({"requests": 2}, {"language": "en"})


def test_dropped_rows_bear_the_stage_and_are_counted_by_reason(tmp_path):
    with stage_writer(tmp_path, STAGE).part(0, "train") as part:
        part.drop("record", "too_old", url="u", file="f", offset=7, detail="1999")
        part.drop_row(Dropped("article", "a", None, "toy", "too_old"), with_kind=True)
    expected = Dropped("record", None, "u", "toy", "too_old", "f", 7, "1999")
    assert rows(tmp_path, "dropped/dropped-toy-train.parquet")[0] == expected._asdict()
    assert part.result().counts == {"dropped_too_old": 1, "dropped_article_too_old": 1}


def test_tables_arrays_and_other_files(tmp_path):
    with stage_writer(tmp_path, STAGE).part(0) as part:
        part.write_table(Page, pa.table({"url": ["a", "b", "c"]}), 2)
        part.write_arrays(Table(np.arange(3)))
        part.add_file(ShardFile("other", 1, 2, "hash"))
    assert part.counts["pages_out"] == len(rows(tmp_path, part.path(Page))) == 3
    (numbers,) = read_arrays(str(tmp_path / part.path(Table)), "key")
    assert numbers.tolist() == [0, 1, 2]
    paths = [f.path for f in part.result().files]
    assert paths[-2:] == [".work/tables/table-00000-of-00001.arrays", "other"]


def test_after_an_error_no_shard_is_visible(tmp_path):
    with pytest.raises(ZeroDivisionError), stage_writer(tmp_path, STAGE).part(0) as part:
        part.write(Page("a" * (1 // 0)))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_shard_that_cannot_be_finished_leaves_no_other(tmp_path):
    with pytest.raises(pa.ArrowTypeError), stage_writer(tmp_path, STAGE).part(0) as part:
        part.write(Link(5))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_record_of_an_undeclared_type_is_refused(tmp_path):
    with pytest.raises(KeyError, match="int"), stage_writer(tmp_path, STAGE).part(0) as part:
        part.write(7)
