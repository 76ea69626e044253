from tests.builders import LEAD, gzipped, stage_writer, warc_record
from wikisum.pipeline.engine.shards import open_shard, read_records, read_rows
from wikisum.pipeline.pages.fetch import FetchShard
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.pages.stage import FETCH
from wikisum.pipeline.records import CAPTURE, Capture
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings

GOOD, EMPTY = f"<p>{LEAD}</p>".encode(), b"<p>Short.</p>"


def test_a_second_choice_is_tried_only_after_a_failure(tmp_path):
    """Page a is good at once, b at the second choice, c never."""
    bodies = {("a", 0): GOOD, ("b", 0): EMPTY, ("c", 0): EMPTY,
              ("a", 1): GOOD, ("b", 1): GOOD, ("c", 1): EMPTY}  # fmt: skip
    data, captures = b"", []
    for (name, choice), body in bodies.items():
        record = gzipped(warc_record(f"http://{name}.example/", body))
        captures.append(
            Capture(f"http://{name}.example/", f"http://{name}.example/", "CC", "w.gz", len(data),
                    len(record), "", "text/html", 200, "20240101000000", choice)
        )  # fmt: skip
        data += record
    (tmp_path / "w.gz").write_bytes(data)
    with open_shard(str(tmp_path), "captures.parquet", CAPTURE, {}) as shard:
        for capture in captures:
            shard.write(capture)
    path = str(tmp_path / "captures.parquet")
    assert list(read_records(Capture, path)) == captures
    access = Access(RemoteSettings(roots=(f"{tmp_path}/",)), None, 1)
    result = FetchShard(stage_writer(tmp_path, FETCH), PageSettings(), access, None)(0, path)
    (documents,) = result_paths(result, "documents/")
    found = [(row["url"], row["offset"]) for row in read_rows(str(tmp_path / documents))]
    assert found == [(captures[0].url, 0), (captures[4].url, captures[4].offset)]
    (drops,) = result_paths(result, "dropped/")
    lost = [(row["url"][7], row["reason"]) for row in read_rows(str(tmp_path / drops))]
    assert lost == [("b", "no_text"), ("c", "no_text"), ("c", "no_text")]
    assert result.counts["captures_in"] == 5
    assert result.counts["paragraphs_kept"] == 2


def result_paths(result, start: str) -> list[str]:
    return [file.path for file in result.files if file.path.startswith(start)]
