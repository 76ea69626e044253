import json

import pytest

from tests.builders import article, stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import EXAMPLE, Example, Paragraph, SourceDocument
from wikisum.pipeline.report.kept import (
    KEPT_EXAMPLES,
    SHOWN_PARAGRAPHS,
    KeptExample,
    ReadExamples,
    drawing,
    lot_of,
    read_kept,
)
from wikisum.pipeline.report.leakage import Key

STAGE = Stage(
    "report", "examples", (Output(".work/keys/", Key), Output(".work/kept/", KeptExample))
)


def example(identity: str) -> Example:
    plain = article()
    return Example(
        id=identity,
        title=f"Title {identity}",
        url=plain.url,
        lead=plain.lead,
        sections=plain.sections,
        documents=[SourceDocument("http://a.example/", "search", 0, "a.gz", 9, "d", "t", 0.0)],
        paragraphs=[Paragraph(f"text {i}", 0, i, 1 / (i + 1), 0.0) for i in range(5)],
        similarity_graph={"source": [0, 1], "target": [2, 4], "weight": [0.5, 0.25]},
        categories=["Bridges"],
    )


def sampled(folder, shards: dict[str, list[str]]) -> list[dict]:
    paths = []
    for index, (name, ids) in enumerate(shards.items()):
        with open_shard(str(folder), f"examples/{name}", EXAMPLE, {}) as shard:
            for identity in ids:
                shard.write(example(identity))
        result = ReadExamples(stage_writer(folder, STAGE, 2))(index, [f"examples/{name}"])
        paths += [file.path for file in result.files if file.path.startswith(".work/kept/")]
    return read_kept(Workspace(str(folder)), paths)


def test_the_examples_drawn_do_not_depend_on_the_shards(tmp_path):
    ids = [f"{i:016x}" for i in range(12)]
    names = ("test-00000-of-00002.parquet", "test-00001-of-00002.parquet")
    one = sampled(tmp_path / "a", {names[0]: ids[:3], names[1]: ids[3:]})
    two = sampled(tmp_path / "b", {names[0]: ids[9:], names[1]: ids[:9]})
    assert json.dumps(one) == json.dumps(two)
    drawn = sorted(ids, key=lot_of)[:KEPT_EXAMPLES]
    assert [shown["title"] for shown in one] == [f"Title {identity}" for identity in drawn]


def test_what_is_shown_of_an_example(tmp_path):
    (shown,) = sampled(tmp_path, {"train-00000-of-00001.parquet": ["aa"]})
    assert shown["split"] == "train"
    assert shown["categories"] == ["Bridges"]
    assert (shown["paragraphs"], shown["documents"]) == (5, 1)
    assert [p["text"] for p in shown["best"]] == [f"text {i}" for i in range(SHOWN_PARAGRAPHS)]
    assert shown["best"][0]["offset"] == 9
    assert shown["graphs"] == {"similarity": [[0, 2], [1, 4]]}  # no discourse graph was made


def test_an_empty_shard_gives_nothing(tmp_path):
    assert sampled(tmp_path, {"train-00000-of-00001.parquet": []}) == []


def test_nodes_stand_clockwise_from_the_top():
    drawn = drawing(4, [[0, 1]], radius=10)
    assert drawn.nodes == [(0.0, -10.0), (10.0, -0.0), (0.0, 10.0), (-10.0, 0.0)]
    assert drawn.lines == [(0.0, -10.0, 10.0, pytest.approx(0))]
    assert drawing(0, []) == ([], [])
