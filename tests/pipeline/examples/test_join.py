import apache_beam as beam
import pyarrow.dataset as ds
from apache_beam.options.pipeline_options import PipelineOptions

from tests.builders import article, document, stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.join import JoinPages, _meet, pack, unpack
from wikisum.pipeline.examples.stage import JOIN
from wikisum.pipeline.options import ExampleSettings
from wikisum.pipeline.records import ARTICLE, DOCUMENT, DROPPED, WANTED, Dropped, WantedUrl

URL = "http://a.example/"


def capture(document_, file="w", offset=0):
    return (document_.fetched_at, file, offset, pack(document_))


def test_packing_keeps_values():
    value = ["é", 1, None, [0.1, ["x"]]]
    assert unpack(pack(value)) == value
    assert unpack(pack(document())) == list(document())


def test_the_newest_of_several_captures_meets_all_who_want_the_page():
    old, new = document(fetched_at="2020"), document(fetched_at="2021")
    groups = {
        "documents": [capture(new, "b"), capture(old, "a", 7)],
        "failures": [("a", "http_status_404", 3, "scan")],
        "wanted": [("1", "citation", 0), ("2", "search", 4)],
    }
    older, *met = _meet((URL, groups))
    row = Dropped(*unpack(older[1][3]))
    assert (row.kind, row.reason, row.file, row.offset) == ("record", "older_capture", "a", 7)
    assert [(a, s, r, k) for a, (s, r, k, _) in met] == [
        ("1", "citation", 0, "document"),
        ("2", "search", 4, "document"),
    ]
    assert unpack(met[0][1][3])[9] == "2021"


def test_a_page_without_document_has_its_last_reason():
    def reason_of(url: str, **groups) -> tuple:
        base = {"documents": [], "failures": [], "wanted": [("1", "citation", 0)]}
        ((_, (_, _, kind, packed)),) = _meet((url, base | groups))
        assert kind == "missed"
        row = Dropped(*unpack(packed))
        return row.reason, row.file, row.offset

    assert reason_of(URL) == ("not_in_crawl", None, None)
    failures = [("a", "http_status_404", 1, "scan"), ("b", "not_html", 2, "scan")]
    assert reason_of(URL, failures=failures) == ("not_html", "b", 2)
    scanned = ("live/0", "http_status_302", 5, "live-scan")
    assert reason_of(URL, failures=[scanned, *failures]) == ("http_status_302", "live/0", 5)
    asked = ("live/0", "dns_failed", None, "live")
    assert reason_of(URL, failures=[asked, *failures, scanned]) == ("dns_failed", "live/0", None)
    wiki = "http://en.wikipedia.org/wiki/A"
    assert reason_of(wiki, documents=[capture(document(wiki))])[0] == "wikipedia_itself"


def test_join_on_lists_of_files(tmp_path):
    """A page that three articles want is unpacked for each; counts add up."""

    def shard(name: str, schema, rows) -> list[str]:
        with open_shard(str(tmp_path), name, schema, {}) as writer:
            for row in rows:
                writer.write(row)
        return [str(tmp_path / name)]

    articles = [article(id=f"{i:016x}", title=f"Tavin {i}", citations=[URL]) for i in range(3)]
    missing = "http://missing.example/"
    wanted = [WantedUrl(URL, a.id, "citation", 0) for a in articles]
    join = JoinPages(
        stage_writer(tmp_path, JOIN, 4),
        shard("a.parquet", ARTICLE, articles),
        shard("w.parquet", WANTED, [*wanted, WantedUrl(missing, articles[0].id, "search", 0)]),
        shard("d.parquet", DOCUMENT, [document()]),
        shard("x.parquet", DROPPED, []),
        ExampleSettings(),
        {"train": 2, "validation": 1, "test": 1},
    )
    parts = Parts(str(tmp_path), str(tmp_path / "parts"))
    with beam.Pipeline(runner="FnApiRunner", options=PipelineOptions([])) as pipeline:
        join(pipeline, parts)
    rows = ds.dataset(sorted(map(str, (tmp_path / ".work" / "joined").glob("train*")))).to_table()
    assert rows.num_rows == 3
    results = list(parts.load(join.part_count).values())
    assert all(results)
    assert sum(r.counts.get("examples_out", 0) for r in results) == 3
    assert sum(r.counts.get("dropped_reference_not_in_crawl", 0) for r in results) == 1
