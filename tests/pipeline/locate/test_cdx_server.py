import json
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest

from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.locate.cdx_server import server_answers
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.reader import IndexReader, IndexSlice
from wikisum.pipeline.records import schema_of, to_table

URLS = [f"http://a.example/{i}?q=é&r" for i in range(5)]
LINE = {
    "urlkey": "example,a)/", "timestamp": "20240101000000", "url": "http://a.example/",
    "status": "200", "offset": "5", "length": "10", "filename": "f",
}  # fmt: skip


class Server:
    """Answers by the last path of the URL that is asked for: bytes, or an error to raise."""

    def __init__(self, answers: dict[str, bytes | BadAnswer]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def get(self, url: str, max_bytes: int) -> bytes:
        self.asked.append(url)
        answer = self.answers.get(unquote(url).split("a.example/")[1][0], b"")
        if isinstance(answer, BadAnswer):
            raise answer
        return answer


@pytest.fixture
def lookups(tmp_path) -> Lookups:
    path = str(tmp_path / "keys.parquet")
    rows = [Lookup(f"example,a)/{i}", url, url) for i, url in enumerate(URLS)]
    pq.write_table(to_table(rows, schema_of(Lookup)), path)
    return Lookups((path,), len(rows))


def answers(server: Server, lookups: Lookups, part: int = 0, part_count: int = 1, url="http://s/x"):
    reader = IndexReader(server, 1, lookups, url)
    return list(server_answers(IndexSlice(0, "CC-1", part, part_count), reader))


def test_lines_are_entries_and_bad_ones_faults(lookups):
    good = json.dumps(LINE).encode()
    server = Server({"0": good + b"\n" + good, "1": b"not JSON\n" + good})
    found = answers(server, lookups)
    assert [(len(a.entries), len(a.faults)) for a in found] == [(2, 0), (1, 1), *[(0, 0)] * 3]
    assert [a.lookups[0].url for a in found] == URLS
    assert found[0].entries[0].offset == 5
    assert found[1].faults[0].reason == "bad_index"


def test_a_missing_page_is_no_fault_and_a_failed_request_is(lookups):
    server = Server({"0": BadAnswer("http_404"), "1": BadAnswer("http_503")})
    found = answers(server, lookups)
    assert [[f.reason for f in a.faults] for a in found[:2]] == [[], ["http_503"]]
    assert all(a.entries == [] for a in found)


@pytest.mark.parametrize(("server_url", "start"), [
    ("http://s/{crawl}-index", "http://s/CC-1-index?url=http%3A%2F%2Fa.example%2F0"),
    ("http://s/x?k=1", "http://s/x?k=1&url=http%3A%2F%2Fa.example%2F0"),
])  # fmt: skip
def test_the_url_is_quoted_into_the_query(server_url, start, lookups):
    server = Server({})
    answers(server, lookups, url=server_url)
    assert server.asked[0] == f"{start}%3Fq%3D%C3%A9%26r&output=json"


def test_slices_take_lookups_in_turn(lookups):
    parts = [[a.lookups[0].url for a in answers(Server({}), lookups, part, 2)] for part in (0, 1)]
    assert parts == [URLS[0::2], URLS[1::2]]
