import pytest

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.wanted.search_results import SearchResult, read_search_results


def test_lines_of_both_forms():
    lines = [
        b'{"title": "A b", "query": "q", "urls": ["http://x.example/"]}\n',
        b"\n",
        b'{"https://en.wikipedia.org/wiki/A_%C3%A9": {"refs": ["http://y.example/"]}}\n',
    ]
    assert list(read_search_results(lines, "f")) == [
        SearchResult("f", 0, "A b", ["http://x.example/"]),
        SearchResult("f", 63, "A_\u00e9", ["http://y.example/"]),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"not json\n", "line 2: not JSON"),
        (b'{"title": "A"}\n', "line 2: has no 'urls'"),
        (b'{"title": "A", "urls": [3]}\n', "line 2: wrong form: expected a string, not 3"),
        (b"[]\n", "line 2: wrong form"),
        (b"{}\n", "line 2: wrong form"),
        (b"\xff\n", "line 2: not JSON"),
        (b'{"http://x/wiki/A": 3}\n', "line 2: wrong form"),
        (b"[" * 100_000 + b"\n", "line 2: "),
    ],
)
def test_bad_lines_are_values_with_their_place(line, fault):
    good, bad = read_search_results([b'{"title": "A", "urls": []}\n', line])
    assert good.title == "A"
    assert isinstance(bad, BadLine)
    assert bad.offset == 27
    assert str(bad).startswith(fault)
