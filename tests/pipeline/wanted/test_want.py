import json

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from tests.builders import article
from tests.flows import run_local, run_on_beam
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.records import ARTICLE
from wikisum.pipeline.wanted.search_results import SearchResult
from wikisum.pipeline.wanted.stage import WANT
from wikisum.pipeline.wanted.url_filter import read_keys
from wikisum.pipeline.wanted.urls import CitingArticle
from wikisum.pipeline.wanted.want import WantPages, WantUrls, read_results

A, B = article_id("A"), article_id("B")
ARTICLES = [
    CitingArticle("articles/1", 5, A, ["http://later.example/"]),
    CitingArticle("articles/0", 9, A, ["http://a.example/", "http://en.wikipedia.org/wiki/C"]),
    CitingArticle("articles/0", 3, B, []),
]
RESULTS = [
    SearchResult("search", 40, "A", ["http://second.example/"]),
    SearchResult("search", 7, "A", ["https://www.a.example/", "ftp://x.example/", "http://b.org/"]),
    SearchResult("search", 99, "Nothing", ["http://n.example/"]),
]


def joined(pipeline, **settings):
    return {
        "articles": pipeline | "A" >> beam.Create(ARTICLES),
        "results": pipeline | "R" >> beam.Create(RESULTS),
    } | WantUrls(**settings)


@pytest.mark.slow
def test_articles_and_search_results_are_joined_by_title():
    with test_pipeline.TestPipeline() as pipeline:
        found = joined(pipeline)
        wanted = found["wanted"] | "Columns" >> beam.Map(tuple)
        assert_that(
            wanted,
            equal_to(
                [
                    ("http://a.example/", A, "citation", 0, None),
                    ("http://en.wikipedia.org/wiki/C", A, "citation", 1, "wikipedia_itself"),
                    ("http://b.org/", A, "search", 1, None),
                    ("http://second.example/", A, "search", 2, None),
                ]
            ),
            "wanted",
        )
        dropped = found["dropped"] | "Reasons" >> beam.Map(lambda r: (r.reason, r.file, r.offset))
        assert_that(
            dropped,
            equal_to(
                [
                    ("duplicate_title", "articles/1", 5),
                    ("not_http", None, None),
                    ("unknown_title", "search", 99),
                ]
            ),
            "dropped",
        )


@pytest.mark.slow
def test_a_slice_of_articles_ignores_results_of_other_titles():
    with test_pipeline.TestPipeline() as pipeline:
        found = joined(pipeline, is_slice=True, corpus="search", source="original")
        reasons = found["dropped"] | beam.Map(lambda row: row.reason)
        assert_that(reasons, equal_to(["duplicate_title", "not_http"]))


def test_bad_lines_are_dropped_rows(tmp_path):
    path = tmp_path / "search.jsonl"
    path.write_bytes(b'{"title": "A", "urls": []}\n{"title": "A"}\n')
    (source,) = expand([str(path)])
    good, (name, bad) = read_results(source)
    assert good == ("results", SearchResult("search.jsonl", 0, "A", []))
    assert name == "dropped"
    assert (bad.kind, bad.stage, bad.reason, bad.file, bad.offset, bad.detail) == (
        "record", "wanted", "bad_line", "search.jsonl", 27, "line 2: has no 'urls'",
    )  # fmt: skip


@pytest.mark.slow
def test_the_keys_of_all_shards_are_sorted_from_one_to_the_next(tmp_path):
    urls = [f"http://{i}.example/" for i in range(300)]
    out = str(tmp_path)
    cited = [*urls, "http://en.wikipedia.org/wiki/A"]
    with open_shard(out, "articles.parquet", ARTICLE, {}) as writer:
        writer.write(article(id="aa", citations=cited))
        writer.write(article(id="bb", citations=cited))
    (tmp_path / "search.jsonl").write_text("bad\n" + json.dumps({"title": "X", "urls": []}))
    want = WantPages(
        writer=StageWriter(out, WANT, 7, {}, Ticker(None)),
        article_paths=[f"{out}/articles.parquet"],
        search_files=expand([f"{out}/search.jsonl"]),
        corpus="combined",
        source="citation",
        is_slice=False,
    )
    parts = Parts(out, str(tmp_path / "parts"))
    run_local(want.flow(3), parts, tmp_path / "ranges")
    paths = sorted((tmp_path / ".work" / "wanted").iterdir())
    keys = np.concatenate([block for path in paths for block in read_keys(str(path))])
    assert keys.tolist() == sorted(map(url_key, urls))
    for path in sorted((tmp_path / "wanted").iterdir()):
        found = [(row["url"], row["article"]) for row in read_rows(str(path))]
        assert found == sorted(found)
    results = list(parts.load(7).values())
    assert len(results) == 7
    totals = {
        name: sum(r.counts.get(name, 0) for r in results)
        for name in ("urls_out", "references_out", "references_citation",
                     "dropped_record_bad_line", "dropped_record_unknown_title")
    }  # fmt: skip
    assert list(totals.values()) == [300, 602, 602, 1, 1]


@pytest.mark.slow
def test_the_shards_are_the_same_for_any_number_of_ranges(tmp_path):
    """And the same with Beam's own groupings."""
    written = []
    for ranges in (0, 1, 3, 7):
        folder = tmp_path / str(ranges)
        with open_shard(str(folder), "articles.parquet", ARTICLE, {}) as writer:
            for i in range(40):
                cited = [f"http://{i % 9}.example/{j}" for j in range(3)]
                writer.write(article(id=article_id(f"T{i}"), title=f"T{i}", citations=cited))
        lines = [{"title": f"T{i}", "urls": [f"http://{i}.org/"]} for i in range(60)]
        (folder / "search.jsonl").write_text("bad\n" + "\n".join(map(json.dumps, lines)))
        want = WantPages(
            writer=StageWriter(str(folder), WANT, 4, {}, Ticker(None)),
            article_paths=[f"{folder}/articles.parquet"],
            search_files=expand([f"{folder}/search.jsonl"]),
            corpus="combined",
            source="citation",
            is_slice=False,
        )
        parts = Parts(str(folder), str(folder / "parts"))
        if ranges:
            run_local(want.flow(ranges), parts, folder / "ranges", held_bytes=2000)
        else:
            run_on_beam(want.flow(2), parts)
        paths = sorted(folder.glob("wanted/*")) + sorted(folder.glob("dropped/*"))
        written.append({path.name: path.read_bytes() for path in paths})
    assert len(written[0]) == 8
    assert written[1:] == written[:1] * 3
