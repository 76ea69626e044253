import gzip
import json

import pytest

from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.locate.keys import Lookup
from wikisum.pipeline.locate.zipnum import _block_answers


def line(key: str, **changes: object) -> bytes:
    fields = {"url": f"http://{key}/", "status": "200", "offset": "5", "length": "10",
              "filename": "f", **changes}  # fmt: skip
    return f"{key} 20240101000000 {json.dumps(fields)}\n".encode()


def block(*lines: bytes) -> bytes:
    return gzip.compress(b"".join(lines), mtime=0)


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
