import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from tests.builders import LEAD, article, document
from tests.flows import run_local, run_on_beam
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.assign import StoredArticle
from wikisum.pipeline.examples.join import JoinExamples, JoinPages, MakeExamples, Use, UsedPage
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


def joined(folder, articles=ARTICLES, wanted=WANTED_URLS, documents=DOCUMENTS, failures=FAILURES):
    """What joins the shards of these records, written to a folder."""
    out = str(folder)

    def shard(name, schema, rows) -> list[str]:
        with open_shard(out, name, schema, {}) as writer:
            for row in rows:
                writer.write(row)
        return [f"{out}/{name}"]

    shards = ExampleShards({"train": 2, "validation": 1, "test": 1})
    return JoinPages(
        writer=StageWriter(out, JOIN, shards.part_count, {}, Ticker(None)),
        article_paths=shard("a.parquet", ARTICLE, articles),
        wanted_paths=shard("w.parquet", WANTED, wanted),
        document_paths=shard("d.parquet", DOCUMENT, documents),
        failure_paths=shard("x.parquet", DROPPED, failures),
        settings=ExampleSettings(min_document_words=0),
        shards=shards,
    )


def outcomes_of(pipeline, articles):
    return {
        "articles": pipeline | "A" >> beam.Create(articles),
        "wanted": pipeline | "W" >> beam.Create(WANTED_URLS),
        "documents": pipeline | "D" >> beam.Create(DOCUMENTS),
        "failures": pipeline | "F" >> beam.Create(FAILURES),
    } | JoinExamples(ExampleSettings(min_document_words=0))


@pytest.mark.slow
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


@pytest.mark.slow
def test_of_several_articles_with_one_id_the_first_counts():
    stored = [StoredArticle("dump", row, a) for row, a in enumerate(ARTICLES)]
    stored += [StoredArticle("dump", 9, ARTICLES[0]._replace(title="Later", lead=LEAD + " More."))]
    stored += [StoredArticle("dump", 0, ARTICLES[2]._replace(title="Earlier"))]
    with test_pipeline.TestPipeline() as pipeline:
        outcomes = outcomes_of(pipeline, stored)
        titles = outcomes | beam.Filter(lambda o: o.example) | beam.Map(lambda o: o.example.title)
        assert_that(titles, equal_to(["Tavin 0", "Tavin 1", "Earlier"]))


@pytest.mark.slow
def test_a_wanted_url_of_no_article_is_an_error():
    with (
        pytest.raises(Exception, match="wants pages, but is not among the articles"),
        test_pipeline.TestPipeline() as pipeline,
    ):
        outcomes_of(pipeline, [StoredArticle("dump", 0, ARTICLES[0])])


@pytest.mark.slow
@pytest.mark.parametrize(("urls", "articles", "divisions"), [(0, 0, 1), (1, 1, 1), (7, 3, 2)])
def test_shards_are_joined_to_shards(tmp_path, urls, articles, divisions):
    """Counts add up, and dropped rows are sorted by article. Without ranges by Beam's groupings."""
    out = str(tmp_path)
    join, parts = joined(tmp_path), Parts(out, f"{out}/parts")
    if urls:
        run_local(join.flow(urls, articles, divisions), parts, tmp_path / "ranges")
    else:
        run_on_beam(join.flow(2, 2, divisions), parts)
    names = [f"train-0000{i}-of-00002" for i in (0, 1)]
    ids = [[row["id"] for row in read_rows(f"{out}/.work/joined/{n}.parquet")] for n in names]
    assert ids == [[ARTICLES[0].id, ARTICLES[2].id], [ARTICLES[1].id]]
    rows = [list(read_rows(f"{out}/dropped/dropped-examples-{name}.parquet")) for name in names]
    assert [[(r["article"], r["reason"]) for r in some] for some in rows] == [
        [(None, "older_capture"), (ARTICLES[0].id, "no_text")],
        [(ARTICLES[1].id, "wikipedia_itself")],
    ]
    results = parts.load(join.shards.part_count)
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


def many(folder):
    """Forty articles that share pages, of which some have several captures and some none."""
    articles = [article(id=f"{i << 58:016x}", title=f"Tavin {i}") for i in range(40)]
    urls = [f"http://{i}.example/" for i in range(30)]
    wanted = [
        WantedUrl(urls[(i + 7 * j) % 30], item.id, "citation", j)
        for i, item in enumerate(articles)
        for j in range(4)
    ]
    documents = [document(url, fetched_at=str(i % 3)) for i, url in enumerate(urls[:20])]
    documents += [document(url, fetched_at="9", warc_file="new") for url in urls[:7]]
    failures = [FAILURES[0]._replace(url=url, offset=i) for i, url in enumerate(urls[20:25] * 2)]
    return joined(folder, articles, wanted, documents, failures)


@pytest.mark.slow
def test_the_shards_are_the_same_for_any_number_of_ranges(tmp_path):
    """And the same with Beam's own groupings."""
    written = []
    for ranges in (0, 1, 3, 7):
        folder = tmp_path / str(ranges)
        parts = Parts(str(folder), str(folder / "parts"))
        if ranges:
            flow = many(folder).flow(ranges, 8 - ranges, ranges)
            run_local(flow, parts, folder / "ranges", held_bytes=3000)
        else:
            run_on_beam(many(folder).flow(2, 3), parts)
        paths = sorted(folder.glob(".work/*/*")) + sorted(folder.glob("dropped/*"))
        written.append({path.name: path.read_bytes() for path in paths})
    assert len(written[0]) == 8
    assert written[1:] == written[:1] * 3


def test_a_page_goes_once_to_each_range_of_articles():
    page = UsedPage([Use(f"{i << 54:016x}", "citation", 0) for i in range(1000)], b"document")
    step = MakeExamples(ExampleSettings(), ()).step(4)
    placed = list(step.takes["pages"](page))
    assert sorted(index for index, _ in placed) == [0, 1, 2, 3]
    assert sorted(use for _, some in placed for use in some.uses) == page.uses


@pytest.mark.slow
def test_older_captures_are_spread_over_the_shards(tmp_path):
    urls = [f"http://{i}.example/" for i in range(40)]
    documents = [document(url, fetched_at=year) for url in urls for year in ("2020", "2021")]
    join = joined(tmp_path, [], [], documents, [])
    parts = Parts(str(tmp_path), f"{tmp_path}/parts")
    run_local(join.flow(2, 2), parts, tmp_path / "ranges")
    paths = sorted(tmp_path.glob("dropped/*"))
    rows = [[row["url"] for row in read_rows(str(path))] for path in paths]
    assert sorted(url for some in rows for url in some) == sorted(urls)
    assert [some for some in rows if not some] == []
    assert rows == [sorted(some) for some in rows]
    counts = [result.counts for result in parts.load(4).values()]
    assert sum(some["dropped_record_older_capture"] for some in counts) == 40
