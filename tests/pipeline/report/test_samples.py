import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import builders
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import ARTICLE, DROPPED, Dropped
from wikisum.pipeline.report.names import NameCount
from wikisum.pipeline.report.samples import ReadDropped, read_samples, samples

STAGE = Stage(
    "report", "rows", (Output(".work/samples/", Dropped), Output(".work/names/", NameCount))
)
ROWS = st.lists(
    st.builds(
        Dropped,
        st.sampled_from(["article", "reference"]),
        st.none(),
        st.sampled_from([f"http://{n}.example/" for n in range(9)]),
        st.just("examples"),
        st.sampled_from(["clone", "no_text"]),
    ),
    unique=True,
)


@pytest.mark.slow
@given(ROWS, st.randoms())
def test_samples_are_the_same_in_any_order_and_out_of_parts(rows, source):
    found = samples(rows, 3)
    shuffled = source.sample(rows, len(rows))
    assert samples(shuffled, 3) == found
    cut = source.randint(0, len(rows))
    assert samples([*samples(rows[:cut], 3), *samples(rows[cut:], 3)], 3) == found


@pytest.mark.slow
@given(ROWS)
def test_every_reason_has_its_rows_up_to_the_size(rows):
    def group(row):
        return row.kind, row.reason

    found = samples(rows, 3)
    for key in map(group, rows):
        number = sum(group(row) == key for row in rows)
        assert sum(group(row) == key for row in found) == min(number, 3)
    assert set(found) <= set(rows)
    assert list(map(group, found)) == sorted(map(group, found))


def test_samples_of_files_name_their_articles(tmp_path):
    out = str(tmp_path)
    article = builders.article()
    rows = [
        Dropped("reference", article.id, "http://a.example/", "examples", "clone"),
        Dropped("record", None, None, "scan", "bad_record", "a.warc.gz", 7),
    ]
    for name, schema, record in (
        ("articles/articles-0.parquet", ARTICLE, article),
        ("dropped/dropped-0.parquet", DROPPED, rows[0]),
        ("dropped/dropped-1.parquet", DROPPED, rows[1]),
    ):
        with open_shard(out, name, schema, {}) as writer:
            writer.write(record)
    sample = ReadDropped(builders.stage_writer(out, STAGE))
    parts = [sample(n, [f"dropped/dropped-{n}.parquet"]).files[0].path for n in range(2)]
    found = read_samples(Workspace(out), parts, ["articles/articles-0.parquet"])
    assert found == [
        {**rows[1]._asdict(), "title": None},
        {**rows[0]._asdict(), "title": article.title},
    ]
    assert read_samples(Workspace(out), parts[1:], ["articles/articles-0.parquet"]) == [
        {**rows[1]._asdict(), "title": None}
    ]
