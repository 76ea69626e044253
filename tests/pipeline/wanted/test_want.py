import json
from collections import defaultdict

import numpy as np
import pytest

from wikisum.crawl.errors import BadLine
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.wanted.url_filter import read_keys
from wikisum.pipeline.wanted.want import SearchResult, WantPages, read_search_results, wanted_urls


def test_lines_of_both_forms():
    lines = [
        b'{"title": "A b", "query": "q", "urls": ["http://x.example/"]}\n',
        b"\n",
        b'{"https://en.wikipedia.org/wiki/A_%C3%A9": {"refs": ["http://y.example/"]}}\n',
    ]
    assert list(read_search_results(lines)) == [
        SearchResult("A b", ["http://x.example/"], 0),
        SearchResult("A_\u00e9", ["http://y.example/"], 63),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"not json\n", "line 2: not JSON"),
        (b'{"title": "A"}\n', "line 2: has no 'urls'"),
        (b'{"title": "A", "urls": [3]}\n', "line 2: wrong form: a string is wanted, not 3"),
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


def test_each_page_is_wanted_once_and_citations_come_first():
    wanted, dropped = wanted_urls(
        "id",
        ["http://a.example/", "http://b.example/"],
        [["https://www.b.example/", "http://c.example/?utm_source=x", "ftp://d.example/"]],
        "combined",
    )
    assert [(w.url, w.source, w.rank) for w in wanted] == [
        ("http://a.example/", "citation", 0),
        ("http://b.example/", "citation", 1),
        ("http://c.example/", "search", 1),
    ]
    assert [(d.kind, d.reason, d.detail) for d in dropped] == [
        ("reference", "not_http", "ftp://d.example/")
    ]


@pytest.mark.parametrize(("corpus", "count"), [("citations", 1), ("search", 2), ("combined", 3)])
def test_corpora(corpus, count):
    searched = [["http://b.example/", "http://c.example/"]]
    wanted, _ = wanted_urls("id", ["http://a.example/"], searched, corpus)
    assert len(wanted) == count


def test_the_keys_of_all_shards_are_sorted_from_one_to_the_next(tmp_path):
    urls = [f"http://{i}.example/" for i in range(300)]
    out, parts = str(tmp_path), Parts(str(tmp_path), str(tmp_path / "parts"))
    want = WantPages(out, [], [], "citation", "combined", False, 7, {})
    packed = defaultdict(list)
    cited = json.dumps([*urls, "http://en.wikipedia.org/wiki/A"])
    for article in ("aa", "bb"):
        groups = {"articles": [("file", 0, cited)], "results": []}
        for shard, row in want._want((article, groups)):
            packed[shard].append(row)
    assert sorted(packed) == list(range(7))
    for element in packed.items():
        want._write(element, parts)
    paths = sorted((tmp_path / ".work" / "wanted").iterdir())
    keys = np.concatenate([block for path in paths for block in read_keys(str(path))])
    assert keys.tolist() == sorted(map(url_key, urls))
    results = list(parts.load(7).values())
    assert sum(r.counts["urls_out"] for r in results) == 300
    assert sum(r.counts["references_out"] for r in results) == 602
