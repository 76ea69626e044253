import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from tests.builders import LEAD, article, document
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.assign import StoredArticle
from wikisum.pipeline.examples.join import JoinExamples, JoinPages
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.examples.stage import JOIN
from wikisum.pipeline.records import ARTICLE, DOCUMENT, DROPPED, WANTED, Dropped, WantedUrl

URL, GONE, WIKI = "http://a.example/", "http://gone.example/", "http://en.wikipedia.org/wiki/A"
ARTICLES = [article(id=f"{i:016x}", title=f"Tavin {i}") for i in range(3)]
WANTED_URLS = [
    *(WantedUrl(URL, a.id, "citation", 0) for a in ARTICLES),
    WantedUrl(GONE, ARTICLES[0].id, "search", 1),
    WantedUrl(WIKI, ARTICLES[1].id, "search", 0, "wikipedia_itself"),
]
DOCUMENTS = [
    document(fetched_at="2021", warc_file="new"),
    document(fetched_at="2020", warc_file="old", offset=7),
    document(WIKI),
    document("http://wanted-by-nobody.example/"),
]
FAILURES = [
    Dropped(kind="record", article=None, url=GONE, stage="scan", reason="no_text", file="f"),
    Dropped(kind="record", article=None, url=None, stage="scan", reason="bad_record", file="f"),
]


def outcomes_of(pipeline, articles):
    return {
        "articles": pipeline | "A" >> beam.Create(articles),
        "wanted": pipeline | "W" >> beam.Create(WANTED_URLS),
        "documents": pipeline | "D" >> beam.Create(DOCUMENTS),
        "failures": pipeline | "F" >> beam.Create(FAILURES),
    } | JoinExamples(ExampleSettings(min_document_words=0))


def test_every_reference_ends_in_an_example_or_is_dropped():
    stored = [StoredArticle("dump", row, a) for row, a in enumerate(ARTICLES)]

    def fate(outcome):
        example = outcome.example
        kept = [(d.url, d.warc_file) for d in example.documents] if example else []
        return outcome.article, kept, [(r.url, r.reason, r.file) for r in outcome.dropped]

    with test_pipeline.TestPipeline() as pipeline:
        found = outcomes_of(pipeline, stored) | beam.Map(fate)
        kept = [(URL, "new")]
        assert_that(
            found,
            equal_to(
                [
                    ("", [], [(URL, "older_capture", "old")]),
                    (ARTICLES[0].id, kept, [(GONE, "no_text", "f")]),
                    (ARTICLES[1].id, kept, [(WIKI, "wikipedia_itself", None)]),
                    (ARTICLES[2].id, kept, []),
                ]
            ),
        )


def test_of_several_articles_with_one_id_the_first_counts():
    stored = [StoredArticle("dump", row, a) for row, a in enumerate(ARTICLES)]
    stored += [StoredArticle("dump", 9, ARTICLES[0]._replace(title="Later", lead=LEAD + " More."))]
    stored += [StoredArticle("dump", 0, ARTICLES[2]._replace(title="Earlier"))]
    with test_pipeline.TestPipeline() as pipeline:
        outcomes = outcomes_of(pipeline, stored)
        titles = outcomes | beam.Filter(lambda o: o.example) | beam.Map(lambda o: o.example.title)
        assert_that(titles, equal_to(["Tavin 0", "Tavin 1", "Earlier"]))


def test_a_wanted_url_of_no_article_is_an_error():
    with (
        pytest.raises(Exception, match="wants pages, but is not among the articles"),
        test_pipeline.TestPipeline() as pipeline,
    ):
        outcomes_of(pipeline, [StoredArticle("dump", 0, ARTICLES[0])])


def test_shards_are_joined_to_shards(tmp_path):
    """Counts add up, and dropped rows are sorted by article."""
    out = str(tmp_path)

    def shard(name, schema, rows) -> list[str]:
        with open_shard(out, name, schema, {}) as writer:
            for row in rows:
                writer.write(row)
        return [f"{out}/{name}"]

    shards = ExampleShards({"train": 2, "validation": 1, "test": 1})
    join = JoinPages(
        writer=StageWriter(out, JOIN, shards.part_count, {}, Ticker(None)),
        article_paths=shard("a.parquet", ARTICLE, ARTICLES),
        wanted_paths=shard("w.parquet", WANTED, WANTED_URLS),
        document_paths=shard("d.parquet", DOCUMENT, DOCUMENTS),
        failure_paths=shard("x.parquet", DROPPED, FAILURES),
        settings=ExampleSettings(min_document_words=0),
        shards=shards,
    )
    parts = Parts(out, f"{out}/parts")
    with test_pipeline.TestPipeline() as pipeline:
        join(pipeline, list(range(shards.part_count)), parts)
    names = [f"train-0000{i}-of-00002" for i in (0, 1)]
    ids = [[row["id"] for row in read_rows(f"{out}/.work/joined/{n}.parquet")] for n in names]
    assert ids == [[ARTICLES[0].id, ARTICLES[2].id], [ARTICLES[1].id]]
    rows = [list(read_rows(f"{out}/dropped/dropped-examples-{name}.parquet")) for name in names]
    assert [[(r["article"], r["reason"]) for r in some] for some in rows] == [
        [(None, "older_capture"), (ARTICLES[0].id, "no_text")],
        [(ARTICLES[1].id, "wikipedia_itself")],
    ]
    results = parts.load(shards.part_count)
    assert len(results) == 4
    totals = {}
    for result in results.values():
        for name, number in result.counts.items():
            totals[name] = totals.get(name, 0) + number
    assert totals["examples_out"] == totals["articles_in"] == 3
    assert totals["documents_out"] == totals["references_in"] == 3
    dropped = {name: number for name, number in totals.items() if name.startswith("dropped_")}
    assert dropped == {
        "dropped_record_older_capture": 1,
        "dropped_reference_no_text": 1,
        "dropped_reference_wikipedia_itself": 1,
    }
