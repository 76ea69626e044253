import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.errors import BadLine
from wikisum.crawl.original import json_entries as module
from wikisum.crawl.original.json_entries import Entry, json_entries

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=8), lambda v: st.lists(v, max_size=3)
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), max_size=3)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 3)


def entries(data: bytes) -> tuple[list[Entry], BadLine | None]:
    found = []
    try:
        for entry in json_entries(io.BytesIO(data)):
            found.append(entry)
    except BadLine as error:
        return found, error
    return found, None


@pytest.mark.slow
@given(OBJECTS, st.sampled_from([None, 2]), st.booleans())
def test_entries_are_those_of_the_whole_text(objects, indent, ascii_only):
    text = "\n".join(json.dumps(o, indent=indent, ensure_ascii=ascii_only) for o in objects)
    data = text.encode()
    found, fault = entries(data)
    assert fault is None
    assert [(e.key, e.value) for e in found] == [pair for o in objects for pair in o.items()]
    assert all(data[e.offset : e.offset + 1] == b'"' for e in found)


def test_offsets_are_bytes():
    found, _ = entries('{ "é": 12345,\n "b" :[] }'.encode())
    assert found == [Entry("é", 12345, 2), Entry("b", [], 16)]


@pytest.mark.parametrize(
    ("data", "count", "offset"),
    [
        (b'{"a": 1, "b', 1, 9),
        (b'{"a": 1', 1, 7),
        (b'{"a": 1, "b": [2}', 1, 14),
        (b'{"a": 1} x', 1, 9),
        (b'{"a": 1, }', 1, 9),
        (b"[1]", 0, 0),
        (b'{"a": 1, "b": "\xff"}', 1, 14),
        (b'{"a": ' + b"[" * 5000, 0, 6),
    ],
)
def test_what_is_cut_or_wrong_comes_after_all_that_stands_before(data, count, offset):
    found, fault = entries(data)
    assert len(found) == count
    assert fault.reason == "bad_json"
    assert fault.offset == offset
    assert f"after byte {offset}" in str(fault)


def test_an_entry_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRY_CHARS", 20)
    found, fault = entries(b'{"a": 1, "b": "' + b"x" * 1000)
    assert len(found) == 1
    assert fault.offset == 14
