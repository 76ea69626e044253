import bz2
import json

import pytest

from tests import tfrecords
from tests.builders import dump
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.estimate import sample_articles as sample_inputs
from wikisum.pipeline.estimate.sample_articles import SampledArticles, sample_articles


def test_a_wanted_page_is_counted_once_and_wikipedia_never():
    sampled = SampledArticles(2)
    sampled.add("A", ["lead"], 10, ["http://a.example/1", "http://a.example/2"])
    assert not sampled.is_full
    sampled.add("B", ["lead"], 5, ["http://a.example/1", "http://en.wikipedia.org/wiki/C"])
    sampled.want(["http://b.example/"])
    assert sampled.is_full
    assert (sampled.articles, sampled.markup_chars, sampled.cited) == (2, 15, 4)
    assert (len(sampled.keys), sampled.busiest_host) == (3, 2)
    assert sampled.packed_bytes > 0


def test_no_page_has_no_busiest_host():
    assert SampledArticles(1).busiest_host == 0


def test_redirects_and_pages_of_other_namespaces_are_no_articles(tmp_path):
    (tmp_path / "x.xml").write_bytes(
        dump(("A", "The lead of A."), ("B", "#REDIRECT [[A]]"), ("C", "")).replace(
            b"</mediawiki>", b""
        )
        + b"<page><title>Talk:A</title><ns>1</ns><revision><text>The lead.</text></revision></page>"
        + b"<page><title>R</title><ns>0</ns><redirect title='A'/><revision><text>The lead of R."
        + b"</text></revision></page></mediawiki>"
    )
    sample, _ = sample_articles(expand([str(tmp_path / "x.xml")]), [], [], ArticleSettings())
    assert (sample.articles, sample.is_original) == (1, False)
    assert sample.read_bytes == sample.total_bytes == sample.input_bytes


def pages(count: int) -> list[tuple[str, str]]:
    return [(f"Article {i}", f"The lead of {i} says something of it.") for i in range(count)]


def test_articles_of_a_large_dump_are_taken_from_all_over_it(tmp_path, monkeypatch):
    xml = dump(*pages(400)).removesuffix(b"</mediawiki>")
    head, *rest = xml.split(b"<page>")
    each = [b"<page>" + piece for piece in rest]
    streams = [head, *(b"".join(each[i : i + 10]) for i in range(0, 400, 10))]
    (tmp_path / "x.xml.bz2").write_bytes(b"".join(map(bz2.compress, [*streams, b"</mediawiki>"])))
    found = expand([str(tmp_path / "x.xml.bz2")])
    whole, _ = sample_articles(found, [], [], ArticleSettings())
    assert whole.articles == sample_inputs.MAX_ARTICLES
    assert whole.articles * whole.total_bytes / whole.read_bytes == pytest.approx(400, rel=0.02)
    monkeypatch.setattr(sample_inputs, "SMALL_BYTES", 0)
    spread, _ = sample_articles(found, [], [], ArticleSettings())
    assert spread.articles == 4 * 10
    assert spread.articles * spread.total_bytes / spread.read_bytes == pytest.approx(400, rel=0.1)
    limited, _ = sample_articles(found, [], [], ArticleSettings(limit=7))
    assert limited.articles == 7


def test_original_files_are_sampled(tmp_path):
    urls = {f"http://w/{i}": [f"http://{i}.example/{k}" for k in range(3)] for i in range(20)}
    for shard in range(2):
        content = b"".join(tfrecords.content(u, u[-2:], "The lead.") for u in urls)
        (tmp_path / f"c-{shard:05d}-of-00002").write_bytes(content)
        (tmp_path / f"u-{shard:05d}-of-00002").write_bytes(tfrecords.refs(urls))
    contents, refs = (expand([str(tmp_path / f"{kind}-*")]) for kind in "cu")
    sample, keys = sample_articles(contents, refs, [], ArticleSettings(split="t2t"))
    assert sample.is_original
    assert sample.read_bytes == sample.total_bytes
    assert sample.input_bytes == sum(f.size_bytes for f in [*contents, *refs])
    assert sample.cited == 3 * sample.articles
    assert len(keys) == 60


def test_search_results_are_counted_for_the_sampled_articles(tmp_path):
    (tmp_path / "x.xml").write_bytes(dump(*pages(3)))
    rows = [{"title": f"Article {i}", "urls": [f"http://{i}.example/{k}" for k in range(4)]}
            for i in range(2, 9)]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    dumps, search = expand([str(tmp_path / "x.xml")]), expand([str(tmp_path / "s.jsonl")])
    sample, keys = sample_articles(dumps, [], search, ArticleSettings())
    assert (sample.articles, sample.searched, len(keys)) == (3, 4, 4)
