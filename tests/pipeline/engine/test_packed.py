import threading
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import article, document
from wikisum.pipeline.engine.packed import COMPRESS_FROM_BYTES, pack, unpack
from wikisum.pipeline.records import Article, Document, Dropped, Section

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


class Old(NamedTuple):
    name: str
    offset: int


class Inserted(NamedTuple):
    name: str
    kind: str
    offset: int


class Retyped(NamedTuple):
    name: str
    offset: str


@pytest.mark.parametrize("record", [article(), document(), article(lead="long " * 9000)])
def test_records_come_back_with_their_nested_classes(record):
    back = unpack(pack(record), type(record))
    assert back == record
    assert type(back) is type(record)
    if isinstance(back, Article):
        assert all(type(section) is Section for section in back.sections)


@pytest.mark.slow
@given(st.lists(TEXTS, max_size=60), st.none() | TEXTS, st.integers(0, 2**63 - 1))
def test_any_document_comes_back(paragraphs, language, offset):
    record = document()._replace(paragraphs=paragraphs, language=language, offset=offset)
    assert unpack(pack(record), Document) == record


@pytest.mark.parametrize("changed", [Inserted, Retyped, Dropped])
def test_a_changed_record_is_an_error(changed):
    with pytest.raises(msgspec.ValidationError):
        unpack(pack(Old("a", 3)), changed)


def test_only_what_is_long_is_compressed():
    assert len(pack("x" * (COMPRESS_FROM_BYTES - 10))) > COMPRESS_FROM_BYTES - 10
    assert len(pack("x" * COMPRESS_FROM_BYTES)) < 100
    assert unpack(pack("x" * COMPRESS_FROM_BYTES), str) == "x" * COMPRESS_FROM_BYTES


def test_threads_pack_beside_each_other():
    values = ["".join(chr(97 + (i * j) % 26) for j in range(5000)) for i in range(40)]
    failed = []

    def work() -> None:
        failed.extend(v for v in values * 5 if unpack(pack(v), str) != v)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
