import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.crawl.errors import BadLine, DataError
from wikisum.pipeline.corpora.rows import read_rows, text_of, texts_of

ROWS = [{"text": 'One, "two"\nthree', "n": "1"}, {"text": "Vier é", "n": "2"}]


def read(name: str, data: bytes) -> list:
    return list(read_rows(name, io.BytesIO(data)))


def csv_of(delimiter: str) -> bytes:
    lines = ["text", "n"], ['"One, ""two""\nthree"', "1"], ['"Vier é"', "2"]
    return "".join(delimiter.join(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode()),
        ("a.json", json.dumps(ROWS, indent=1).encode()),
        ("lines.json", "".join(json.dumps(row) + "\n" for row in ROWS).encode()),
        ("a.csv", b"\xef\xbb\xbf" + csv_of(",")),
        ("a.tsv", csv_of("\t")),
    ],
)
def test_every_format_gives_the_same_rows(name, data):
    assert [row for _, row in read(name, data)] == ROWS


def test_parquet_is_read_from_files_and_from_streams():
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, row_group_size=1)
    assert read("a.parquet", sink.getvalue()) == list(enumerate(ROWS))
    packed = io.BytesIO(gzip.compress(sink.getvalue()))
    with gzip.open(packed) as stream:
        assert list(read_rows("a.parquet", stream)) == list(enumerate(ROWS))
    ((offset, error),) = read("a.parquet", b"PAR1 but no footer")
    assert (offset, error.reason) == (0, "bad_line")


def test_a_bad_line_costs_only_itself():
    data = b'{"a": 1}\n\nnot json\n[1]\n{"a": "\\ud800"}\n'
    found = read("a.jsonl", data)
    assert [offset for offset, _ in found] == [0, 10, 19, 23]
    assert [str(row) for _, row in found if isinstance(row, DataError)] == [
        "line 3 is not JSON: Expecting value (character 1)",
        "line 4 is not a JSON object",
    ]


def test_a_line_nested_too_deeply_is_a_bad_line():
    ((_, error),) = read("a.jsonl", b"[" * 100_000)
    assert str(error) == "line 1 is nested too deeply"


def test_a_csv_row_with_another_number_of_columns_is_a_bad_line():
    found = read("a.csv", b"a,b\n1,2\n3\n4,5,6\n7,8\n")
    assert [row for _, row in found if isinstance(row, dict)] == [
        {"a": "1", "b": "2"},
        {"a": "7", "b": "8"},
    ]
    assert [str(row) for _, row in found if isinstance(row, DataError)] == [
        f"line {n} has another number of columns than the header" for n in (3, 4)
    ]


def test_columns_hold_a_text_or_a_list_of_texts():
    row = {"one": "a", "several": ["a", "b"], "mixed": ["a", 1]}
    assert text_of(row, "one") == "a"
    assert texts_of(row, "one") == ["a"]
    assert texts_of(row, "several") == ["a", "b"]
    for column, kind in (("none", "missing"), ("mixed", "list")):
        with pytest.raises(BadLine, match=f"{column!r} is {kind}, not text") as caught:
            texts_of(row, column)
        assert caught.value.reason == "missing_column"
