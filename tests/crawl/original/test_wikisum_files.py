import io

import pytest

from tests.tfrecords import content, example, refs, tfrecord
from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.crawl.original.wikisum_files import (
    Content,
    Refs,
    Shard,
    metadata_urls,
    read_content,
    read_refs,
    shard_of,
    split_of_shard,
)
from wikisum.pipeline.articles.settings import SPLIT_TENTHS


def test_an_article():
    data = content(
        "https://en.wikipedia.org/wiki/Tavin_Bridge",
        "Tavin Bridge",
        "The bridge  is of iron.\n\n It was opened in 1881.\n",
        ("Building", "It was built\u200b by Penrose."),
        ("Empty", " \n"),
        ("", "No heading."),
    )
    (found,) = read_content(io.BytesIO(data))
    assert found == Content(
        "https://en.wikipedia.org/wiki/Tavin_Bridge",
        "Tavin Bridge",
        "The bridge is of iron.\nIt was opened in 1881.",
        [("Building", "It was built by Penrose."), ("", "No heading.")],
        0,
    )


def test_what_is_wrong_costs_itself_alone():
    good = content("http://a/", "A", "")
    records = [
        tfrecord(b"\xff\xff"),
        tfrecord(example({"url": [b"http://b/"], "title": [b""]})),
        tfrecord(example({"title": [b"B"]})),
        good,
        tfrecord(example({"url": [b"http://c/"], "title": [b"C"], "section_texts": [b"\xff c"]})),
        good[:-1],
    ]
    found = list(read_content(io.BytesIO(b"".join(records))))
    starts = [sum(map(len, records[:i])) for i in range(6)]
    assert [f.offset for f in found] == starts
    assert [f.reason if isinstance(f, BadRecord) else f.title for f in found] == [
        "bad_example", "no_title", "no_url", "A", "C", "truncated_file"
    ]  # fmt: skip
    assert found[3].lead == ""
    assert found[4].lead == "\ufffd c"


def test_urls_of_articles():
    data = refs({"http://w/A": ["http://x/", "http://x/"], "http://w/B": []})
    assert list(read_refs(io.BytesIO(data))) == [
        Refs("http://w/A", ["http://x/", "http://x/"], 1),
        Refs("http://w/B", [], data.index(b'"http://w/B')),
    ]


def test_entries_without_urls_and_a_cut_file():
    data = b'{"a": {"refs": ["\\ud800u"]}, "b": {}, "c": [], "d": {"refs": [1]}, "e": {"re'
    first, *bad = read_refs(io.BytesIO(data))
    assert first == Refs("a", ["?u"], 1)
    assert all(isinstance(b, BadLine) for b in bad)
    assert [(b.reason, data[b.offset : b.offset + 3]) for b in bad[:3]] == [
        ("no_refs", b'"b"'), ("no_refs", b'"c"'), ("no_refs", b'"d"')
    ]  # fmt: skip
    assert bad[3].reason == "bad_json"


@pytest.mark.parametrize(
    ("name", "shard"),
    [
        ("wiki_content.tfrecords-00012-of-01000", Shard(12, 1000)),
        ("x/wiki_urls.json-00000-of-00001", Shard(0, 1)),
        ("wiki_urls.json", None),
        ("a-00003-of-00003", None),
        ("a-00000-of-00002.gz", None),
    ],
)
def test_the_shard_that_a_name_tells(name, shard):
    assert shard_of(name) == shard


@pytest.mark.parametrize(
    ("split", "ends"),
    [
        ("t2t", {"validation": (0, 99), "test": (100, 199), "train": (200, 999)}),
        ("t2t-nominal", {"train": (0, 799), "validation": (800, 899), "test": (900, 999)}),
    ],
)
def test_splits_of_the_thousand_shards(split, ends):
    splits = [split_of_shard(Shard(i, 1000), SPLIT_TENTHS[split]) for i in range(1000)]
    shards = {name: [i for i, s in enumerate(splits) if s == name] for name in ends}
    assert {n: (found[0], found[-1]) for n, found in shards.items()} == ends
    assert all(len(s) == s[-1] - s[0] + 1 for s in shards.values())


def test_metadata():
    assert metadata_urls(b'{"http://a/": [1, 2], "http://b/": []}') == ["http://a/", "http://b/"]
    for data in (b"", b"[]", b"3", b"{", b"[" * 100_000):
        with pytest.raises(BadLine):
            metadata_urls(data)
