import pytest

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.index.ranges import Span
from wikisum.pipeline.remote import spans
from wikisum.pipeline.remote.spans import read_spans

DATA = bytes(range(256)) * 4


class Files:
    """Files in memory; requests that overlap `bad` raise `error`."""

    def __init__(self, bad: range = range(0), error: BadAnswer | None = None) -> None:
        self.bad, self.error = bad, error
        self.requests: list[Span] = []

    def read(self, file: str, offset: int, length: int) -> bytes:
        self.requests.append(Span(file, offset, length))
        if self.error and offset < self.bad.stop and offset + length > self.bad.start:
            raise self.error
        return DATA[offset : offset + length]


def read(remote: Files, *items: Span, max_bytes: int = 100) -> list[object]:
    """The bytes of each item, or the reason why there are none."""
    found = list(read_spans(remote, 1, items, lambda item: item, max_bytes))
    assert [item for item, _ in found] == list(items)
    return [data.reason if isinstance(data, BadAnswer) else data for _, data in found]


def test_neighbors_share_a_request_and_each_gets_its_own_bytes():
    remote = Files()
    items = Span("a", 100, 10), Span("a", 110, 5), Span("a", 130, 4), Span("b", 0, 3)
    assert read(remote, *items) == [DATA[100:110], DATA[110:115], DATA[130:134], DATA[:3]]
    assert sorted(remote.requests) == [Span("a", 100, 34), Span("b", 0, 3)]


def test_a_gap_is_read_up_to_its_limit(monkeypatch):
    monkeypatch.setattr(spans, "MAX_GAP_BYTES", 20)
    remote = Files()
    read(remote, Span("a", 0, 10), Span("a", 30, 10), Span("a", 61, 10))
    assert sorted(remote.requests) == [Span("a", 0, 40), Span("a", 61, 10)]


def test_a_range_is_no_longer_than_its_limit(monkeypatch):
    monkeypatch.setattr(spans, "MAX_RANGE_BYTES", 40)
    remote = Files()
    read(remote, *(Span("a", offset, 20) for offset in range(0, 100, 20)))
    assert sorted(remote.requests) == [Span("a", 0, 40), Span("a", 40, 40), Span("a", 80, 20)]


def test_an_item_over_the_limit_is_not_read_alone(monkeypatch):
    monkeypatch.setattr(spans, "MAX_RANGE_BYTES", 10)
    remote = Files()
    items = Span("a", 0, 100), Span("a", 200, 101)
    assert read(remote, *items) == [DATA[:100], "page_too_large"]
    assert remote.requests == [Span("a", 0, 100)]


def test_an_item_over_the_limit_spoils_no_neighbor():
    assert read(Files(), Span("a", 0, 100), Span("a", 100, 101)) == [DATA[:100], "page_too_large"]


def test_after_a_lasting_error_each_item_is_asked_for_alone():
    remote = Files(range(20, 30), BadAnswer("past_end"))
    items = Span("a", 0, 10), Span("a", 20, 10), Span("a", 40, 10)
    assert read(remote, *items) == [DATA[:10], "past_end", DATA[40:50]]
    assert remote.requests == [Span("a", 0, 50), *items]


def test_a_lasting_error_of_one_item_is_not_asked_for_again():
    remote = Files(range(5), BadAnswer("http_404"))
    assert read(remote, Span("a", 0, 10)) == ["http_404"]
    assert len(remote.requests) == 1


def test_a_transient_error_is_that_of_all_items():
    remote = Files(range(5), BadAnswer("http_503", is_transient=True))
    assert read(remote, Span("a", 0, 10), Span("a", 20, 10)) == ["http_503", "http_503"]
    assert len(remote.requests) == 1


def test_items_out_of_order_are_a_wrong_call():
    with pytest.raises(ValueError, match="comes after"):
        read(Files(), Span("a", 20, 10), Span("a", 0, 10))
